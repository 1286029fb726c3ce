"""Tool calls that were made beside those that were required: whether they are the same but for how they are written."""

import ast
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from errata.model import Attempt
from errata.text.answers import bare, json_in
from errata.text.equivalence import same_value

_NAMES = ("name", "function_name", "tool", "tool_name", "function")
_ARGUMENTS = ("args", "arguments", "parameters", "inputParameters", "input", "kwargs")
_REQUIRED = ("required_function_call", "required_calls", "required_tool_calls", "expected_tools", "expectedTools",
             "tool_calls", "actions", "calls", "possible_answer")  # fmt: skip
_NOTHING: tuple[Any, ...] = (None, "", [], {})
LONGEST = 4_000


class CalledFunction(NamedTuple):
    name: str
    arguments: dict[str, Any]
    any_of: bool = False
    """Whether each argument is a list of the values that are accepted; an empty text among them: it may be left out."""


def required_calls(expected: Any) -> tuple[CalledFunction, ...]:
    """The calls that a case expects; empty where it expects none, or in another form."""
    if isinstance(expected, dict):
        for name in _REQUIRED:
            if expected.get(name):
                return calls_of(expected[name])
    return calls_of(expected) if isinstance(expected, dict | list) else ()


def made_calls(attempt: Attempt) -> tuple[CalledFunction, ...]:
    """From what the harness decoded, else from the transcript, else from the text itself."""
    if attempt.output.structured is not None:
        return calls_of(attempt.output.structured)
    made = [call for step in attempt.steps for call in step.tool_calls if step.actor.role == "assistant"]
    if made:
        plain = [one for one in made if not one.is_duplicate]
        return tuple(CalledFunction(one.name, one.arguments) for one in plain if isinstance(one.arguments, dict))
    return calls_in(attempt.output.text or "")


def calls_of(value: Any) -> tuple[CalledFunction, ...]:
    listed = value if isinstance(value, list | tuple) else [value]
    calls = [_call(one) for one in listed]
    return tuple(one for one in calls if one) if all(calls) else ()


def calls_in(text: str) -> tuple[CalledFunction, ...]:
    """Calls that a text consists of, as JSON or as Python would write them. It is parsed, and nothing of it is run."""
    if not text or len(text) > LONGEST or not ("(" in text or "{" in text):
        return ()
    value = json_in(text)
    return calls_of(value) if value is not None else tuple(_calls_in_code(text))


def same_calls(made: tuple[CalledFunction, ...], required: tuple[CalledFunction, ...]) -> bool:
    left = list(made)
    for wanted in required:
        match = next((one for one in left if is_same_call(one, wanted)), None)
        if match is None:
            return False
        left.remove(match)
    return bool(required) and not left


def is_same_call(made: CalledFunction, wanted: CalledFunction) -> bool:
    # a dot is not part of a name that providers take, so harnesses write an underscore in its place
    if made.name.replace(".", "_") != wanted.name.replace(".", "_"):
        return False
    for name, value in wanted.arguments.items():
        accepted = value if wanted.any_of else [value]
        if name not in made.arguments:
            if not _has_nothing(accepted):
                return False
        elif not any(same_value(made.arguments[name], one) for one in accepted):
            return False
    return all(_has_nothing([value]) for name, value in made.arguments.items() if name not in wanted.arguments)


def _has_nothing(values: Iterable[Any]) -> bool:
    """Whether leaving it out is the same as one of the values."""
    return any(value in _NOTHING for value in values)


def _call(value: Any) -> CalledFunction | None:
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    if isinstance(inner, dict):
        return _call(inner)
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    if name is not None:
        given = [value[key] for key in _ARGUMENTS if key in value]
        return _with(name, given[0] if given else {})
    if len(value) == 1:
        ((only, inside),) = value.items()
        return _with(str(only), inside, lists=True)
    return None


def _with(name: str, arguments: Any, *, lists: bool = False) -> CalledFunction | None:
    if isinstance(arguments, str):
        try:
            arguments = msgspec.json.decode(arguments or "{}")
        except (msgspec.DecodeError, RecursionError):
            return None
    if not isinstance(arguments, dict):
        return None
    return CalledFunction(
        name, arguments, lists and bool(arguments) and all(isinstance(one, list) for one in arguments.values())
    )


def _calls_in_code(text: str) -> Iterator[CalledFunction]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # wrong escapes in a text do not matter here
            tree = ast.parse(bare(text), mode="eval").body
        for node in tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]:
            if isinstance(node, ast.Call) and not node.args:
                given = {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg}
                yield CalledFunction(ast.unparse(node.func), given)
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return
