"""The answer itself: who first gave the wrong one, and where the right one was at hand and not used."""

import re
from collections.abc import Iterator, Sequence

from errata.model import Attempt, Case, Observation, Step
from errata.text.lazy_regex import lazy_regex
from errata.transcript.claims import last_messages, values_in
from errata.transcript.mentions import Mentions, folded_text
from errata.transcript.tool_use import ToolUse, arguments_quote, code_in, is_agent, output_of, speaker_of, words_with
from errata.transcript.wording import sentence_around, shortened

LONGEST = 200
"""Characters of an answer that can be traced."""
SPECIFIC = 4
"""Characters from which on a right answer is not found by accident; three for a number."""
TAIL = 800
_STATES = r"(?:\b(?:is|are|be|was|of|equals?|to|totall?ing)|[=:]):?[\s*_`\"'“$(\\\[]{1,8}"
_ASIDE = lazy_regex(r"(?<=\s)\([^()\n]{1,60}\)")
_SINGLE = lazy_regex(rf"{_STATES}(\d(?:\.\d+)?)(?![\d.]\d|\w)")


def answer_flags(
    attempt: Attempt, case: Case | None, uses: Sequence[ToolUse], mentions: Mentions
) -> Iterator[Observation]:
    """Only where a text is expected and the attempt failed."""
    expected = case.expected if case is not None else None
    answer = next(iter(last_messages(attempt.steps)), None)
    if isinstance(expected, bool) or not isinstance(expected, str | int | float) or answer is None:
        return
    if attempt.outcome == "pass" or folded_text(str(expected)) in folded_text(answer.text):
        return
    yield from _overlooked(attempt, answer, str(expected), mentions)
    given = given_answer(answer.text, mentions)
    if given:
        yield _computed(given, uses) or _first_given(attempt, answer, given, mentions)


def given_answer(text: str, mentions: Mentions) -> str:
    """The last value that a message states and the task does not have; empty where none is plain."""
    if code_in(text):
        return ""
    end = _ASIDE.sub("", text[-TAIL:])
    values = [value.text for value in values_in(end) if value.kind != "name" or _is_stated(value.text, end)]
    values += [match[1] for match in _SINGLE.finditer(end)][-1:] if not values else []
    return next((value for value in reversed(values) if not _is_in_task(value, mentions)), "")


def _is_stated(name: str, text: str) -> bool:
    return re.search(r"(?:\b(?:is|are|be|was)|:)[\s*_`\"'“]{1,6}" + re.escape(name), text) is not None


def _is_in_task(value: str, mentions: Mentions) -> bool:
    first = mentions.first(value)
    return len(value) > 1 and first is not None and first.origin in ("task", "system")


def _computed(given: str, uses: Sequence[ToolUse]) -> Observation | None:
    """The code that first printed the answer on a line of its own: a number that somebody computed."""
    wanted = folded_text(given)
    for use in uses if wanted[:1].isdigit() else ():
        if (
            use.is_code
            and use.worked
            and wanted in map(str.strip, folded_text(output_of(use.reply or "")).splitlines())
        ):
            return Observation(
                kind="value_named",
                step=use.step.index,
                speaker=speaker_of(use.step),
                text=f'Its code is the first to print "{shortened(given)}", the answer that the attempt ends in.',
                quote=arguments_quote(use),
                related_step=use.reply_step.index,
                argument="answer",
                strength="moderate",
            )
    return None


def _first_given(attempt: Attempt, answer: Step, given: str, mentions: Mentions) -> Observation:
    """The first agent that states what the attempt ends in."""
    states = re.compile(_STATES + re.escape(folded_text(given)) + r"(?!\w)", re.IGNORECASE)
    others = (step for step in attempt.steps[1:] if is_agent(step) and states.search(folded_text(step.text)))
    step = next(others, None)
    if step is None or step is answer:
        named = (one.step for one in mentions.each(given) if one.origin == "agent" and one.at > 0)
        step = next(named, None) or answer
    return Observation(
        kind="value_named",
        step=step.index,
        speaker=speaker_of(step),
        text=f'Is the first to answer "{shortened(given)}", which the attempt ends in.',
        quote=words_with(step, given),
        related_step=answer.index if step is not answer else None,
        argument="answer",
        strength="moderate",
    )


def _overlooked(attempt: Attempt, answer: Step, expected: str, mentions: Mentions) -> Iterator[Observation]:
    """The agent after the last result with the right answer, or the last agent that names it."""
    if len(expected) < (SPECIFIC - 1 if expected.isdigit() else SPECIFIC) or len(expected) > LONGEST:
        return
    last = None
    for mention in mentions.each(expected):
        if mention.origin in ("task", "system"):
            return
        last = mention
    if last is None or last.step is None or last.at == 0:
        return
    step = last.step
    if last.origin in ("result", "user", "call"):
        step = next((one for one in attempt.steps[last.at + 1 :] if is_agent(one)), answer)
        match = re.search(r"\S[^\n]{0,160}", step.text)
        quote = match[0] if match else words_with(step, expected)
        text = f"Goes on without the right answer, which step {last.step.index} has."
    else:
        at = step.text.lower().find(expected.lower())
        quote = sentence_around(step.text, at, at + len(expected)) if at >= 0 else words_with(step, expected)
        text = "Names the right answer and decides otherwise."
    yield Observation(
        kind="answer_overlooked",
        step=step.index,
        speaker=speaker_of(step),
        text=text,
        quote=quote,
        related_step=last.step.index if step is not last.step else None,
        strength="strong",
    )
