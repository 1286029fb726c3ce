"""What an agent states against the last tool result, or about an action that was never made."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from errata.model import Observation, Step
from errata.text.lazy_regex import lazy_regex
from errata.transcript.actions import ActionComparison, is_write
from errata.transcript.mentions import folded_text
from errata.transcript.tool_use import ToolUse, is_agent, speaker_of
from errata.transcript.wording import sentence_around, shortened

LARGEST = 200_000
PREFIX = 3
STEM = 4
"""Letters by which `booked` is the verb of `book_reservation`."""
_STATED = lazy_regex(r"^[ \t>*•-]*\**([A-Za-z][\w /-]{2,40}?)\**[ \t]*:\**[ \t]*([^\n]{1,80})$", re.MULTILINE)
_DONE = lazy_regex(
    r"\b(?:ha(?:s|ve) (?:now |also )?been (?:successfully )?|(?:was|were) successfully"
    r"|(?:i(?:'|’)ve|i have) (?:successfully )?) ?(\w+(?:ed|ent|ade|ut))\b",
    re.IGNORECASE,
)
_FIGURE = lazy_regex(r"[$€£]?(-?\d[\d,]*(?:\.\d+)?)\b")
_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}
_HEDGES = lazy_regex(
    r"\b(?:not|if|once|after|would|will|can(?:not)?|could|should|before|unable|fail)\w*\b", re.IGNORECASE
)
_READS = lazy_regex(
    r"(?:review|retriev|check|locat|verif|identif|search|look|found|confirm|receiv|list|not|inform|provid)",
    re.IGNORECASE,
)
_TOKEN = lazy_regex(r"[a-z]{3,}")


def contradictions(
    steps: Sequence[Step], uses: Sequence[ToolUse], compared: ActionComparison | None
) -> Iterator[Observation]:
    results = sorted((use for use in uses if use.reply is not None and not use.is_code), key=_reply_index)
    open_actions = _open_actions(compared, uses)
    known = 0
    for step in steps:
        while known < len(results) and _reply_index(results[known]) < step.index:
            known += 1
        if not is_agent(step) or step.tool_calls or not step.text.strip() or not known:
            continue
        last = results[known - 1]
        if last.error:
            yield from _success_after_refusal(step, last)
        else:
            yield from _other_value(step, last)
        if open_actions:
            yield from _never_made(step, open_actions)


def _reply_index(use: ToolUse) -> int:
    return use.reply_step.index


def _success_after_refusal(step: Step, last: ToolUse) -> Iterator[Observation]:
    """The last call was refused, and the agent reports it as done."""
    verb = last.name.lower()[:STEM]
    done = next((one for one in _reports(step.text) if one[1].lower().startswith(verb)), None)
    if done is not None and is_write(last.name):
        yield Observation(
            kind="contradicts_result",
            step=step.index,
            speaker=speaker_of(step),
            text=f"Reports success, but {last.name} was refused: {last.error.rstrip('.')}.",
            quote=sentence_around(step.text, *done.span()),
            related_step=last.reply_step.index,
            tool=last.name,
            strength="strong",
        )


def _other_value(step: Step, last: ToolUse) -> Iterator[Observation]:
    """`Label: value` where the result has one value under that name, and another one."""
    fields = _single_fields(last.reply or "")
    if not fields:
        return
    reply = folded_text(last.reply or "")
    for match in _STATED.finditer(step.text):
        name = re.sub(r"[^a-z0-9]+", "_", match[1].lower()).strip("_")
        stated, value = match[2].strip(" *`."), fields.get(name)
        if value is None or not _differs(stated, value, reply):
            continue
        yield Observation(
            kind="contradicts_result",
            step=step.index,
            speaker=speaker_of(step),
            text=f"States {name} as {shortened(stated)}; the result of {last.name} has {shortened(value)}.",
            quote=match[0].strip(),
            related_step=last.reply_step.index,
            tool=last.name,
            argument=name,
            strength="strong",
        )
        return


def _differs(stated: str, value: Any, reply: str) -> bool:
    if isinstance(value, bool):
        word = _TRUTHS.get(stated.split()[0].lower().strip(",.;")) if stated.split() else None
        return word is not None and word is not value
    if isinstance(value, int | float):
        figures = _FIGURE.findall(stated)
        if len(figures) != 1:
            return False
        figure = figures[0].replace(",", "")
        is_known = re.search(rf"(?<![\d.]){re.escape(figure)}(?!\d|\.\d)", reply) is not None
        return not is_known and abs(float(figure) - float(value)) > 1e-9
    return False


def _single_fields(reply: str) -> dict[str, Any]:
    """Numbers and truth values of a JSON result, by names that occur once."""
    if len(reply) > LARGEST or not reply.lstrip().startswith("{"):
        return {}
    try:
        value = msgspec.json.decode(reply)
    except (msgspec.DecodeError, RecursionError):
        return {}
    fields: dict[str, list[Any]] = {}
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            for key, inner in item.items():
                if isinstance(inner, bool | int | float):
                    fields.setdefault(str(key).lower(), []).append(inner)
                elif isinstance(inner, dict | list):
                    todo.append(inner)
        elif isinstance(item, list):
            todo += [inner for inner in item if isinstance(inner, dict | list)]
    return {name: values[0] for name, values in fields.items() if len(values) == 1}


def _never_made(step: Step, open_actions: Sequence[tuple[str, frozenset[str]]]) -> Iterator[Observation]:
    """The agent reports an expected action as done that it never made."""
    for done in _reports(step.text):
        sentence = sentence_around(step.text, *done.span())
        words = {word[:PREFIX] for word in _TOKEN.findall(sentence.lower())}
        name = next((name for name, tokens in open_actions if not words.isdisjoint(tokens)), None)
        if name is not None:
            yield Observation(
                kind="action_not_made",
                step=step.index,
                speaker=speaker_of(step),
                text=f"Reports an action as done, but {name} was never called successfully.",
                quote=sentence,
                tool=name,
                strength="strong",
            )
            return


def _open_actions(compared: ActionComparison | None, uses: Sequence[ToolUse]) -> tuple[tuple[str, frozenset[str]], ...]:
    """Expected actions that were not made, each with the beginnings of the words that only its name has."""
    if compared is None:
        return ()
    made = {use.name for use in uses if not use.error and is_write(use.name)}
    known = {token for name in made for token in _TOKEN.findall(name.lower())}
    own = {call.name: frozenset(_TOKEN.findall(call.name.lower())) - known for call in compared.missing}
    return tuple((name, frozenset(token[:PREFIX] for token in tokens)) for name, tokens in own.items() if tokens)


def _reports(text: str) -> Iterator[re.Match[str]]:
    for match in _DONE.finditer(text):
        start = max(text.rfind("\n", 0, match.start()), text.rfind(". ", 0, match.start()), -1) + 1
        if not _HEDGES.search(text[start : match.start()]) and not _READS.match(match[1]):
            yield match
