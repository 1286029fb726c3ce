"""What was asked and what came back: one prompt or one for each choice, and texts or likelihoods."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from errata.sources.base import decode, number_or_none
from errata.sources.shared.values import as_text, mapping, plain, sequence

LIKELIHOOD = "acc"
"""The measure that takes the likeliest continuation for the answer."""


class Asked(NamedTuple):
    input: Any
    """A text, or a chat."""
    choices: tuple[str, ...]
    generation: Any
    """How the model was to generate; none where it was only asked how likely something is."""
    requests: list[Any]
    """All of them, where they differ in more than the choice."""

    @property
    def generates(self) -> bool:
        return self.generation is not None


def asked_of(arguments: Any) -> Asked:
    requests = list(_requests(arguments))
    contexts = [request[0] for request in requests if request]
    options = [request[1] for request in requests if len(request) > 1]
    generation = next((option for option in options if isinstance(option, dict)), None)
    choices = [option for option in options if isinstance(option, str)]
    several = len(choices) > 1 and len(choices) == len(requests)
    same = all(context == contexts[0] for context in contexts[1:])
    return Asked(
        input=_prompt(contexts[0]) if contexts else None,
        choices=tuple(choice.strip() for choice in choices) if several else (),
        generation=plain(generation),
        requests=[] if same and (several or len(requests) == 1) else plain(requests),
    )


def _requests(arguments: Any) -> Iterator[list[Any]]:
    """Now named `gen_args_0` with `arg_0` below; once lists in a list."""
    if isinstance(arguments, dict):
        for request in arguments.values():
            yield list(mapping(request).values())
    for request in sequence(arguments):
        yield sequence(request) or [request]


def _prompt(context: Any) -> Any:
    """A chat is kept as JSON in a text, and that in a list."""
    told = context[0] if isinstance(context, list) and len(context) == 1 else context
    if isinstance(told, str) and told.lstrip().startswith("[{"):
        try:
            return plain(decode(told.encode()))
        except ValueError:
            return told
    return plain(told)


def texts_of(responses: Any) -> list[str]:
    """Every text that was generated, the repeats of the first request first."""
    return [
        response if isinstance(response, str) else as_text(response)
        for tries in sequence(responses)
        for response in (tries if isinstance(tries, list) else [tries])
        if response is not None
    ]


def likeliest(responses: Any, choices: tuple[str, ...]) -> str | None:
    """The choice with the highest likelihood; none where that is shared, or not told."""
    told = [number_or_none(_first(sequence(tries))) for tries in sequence(responses)]
    found = [value for value in told if value is not None]
    if len(found) != len(choices) or len(told) != len(choices) or found.count(max(found, default=0)) != 1:
        return None
    return choices[found.index(max(found))]


def _first(tries: list[Any]) -> Any:
    """`[[-0.1, False]]`, with the numbers as texts in newer files."""
    inner = tries[0] if tries else None
    return inner[0] if isinstance(inner, list) and inner else inner
