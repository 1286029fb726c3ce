"""What an agent states without a source, and an answer that the transcript contradicts or overlooks."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Literal, NamedTuple

from errata.model import Attempt, Case, Observation, Step
from errata.text.lazy_regex import lazy_regex
from errata.transcript.mentions import Mentions, ValueMention, folded_text, task_texts
from errata.transcript.tool_use import (
    ToolUse,
    arguments_quote,
    as_json,
    code_in,
    is_agent,
    output_of,
    speaker_of,
    text_of,
    words_with,
)
from errata.transcript.wording import listed_values, sentence_around, shortened

MOST = 40
"""Values of an answer that are traced."""
TAIL = 6_000
"""Of a long answer the end is searched: that is where the result is."""
MESSAGES = 3
"""The answer, and what was written just before it: what it relies on."""
NUMBERS = 30
LAST_DIGITS = 4
RESTATED = 120
"""Characters of a task by which a step is recognised that repeats it."""

ValueKind = Literal["link", "quote", "number", "name"]
_LINK = lazy_regex(r"https?://[^\s)>\]\"'`]{4,300}")
_ALONE = lazy_regex(r"^\s*\*\*([^*\n:]{2,60})\*\*\W*$")
"""An answer in bold on a line of its own."""
_QUOTE = lazy_regex(r"[\"“]([^\"“”\n]{4,160})[\"”]")
_NUMBER = lazy_regex(r"(?<![\w.,/:-])[$€£]?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d{2,12})%?(?![\w/:-]|[.,]\d)")
_WORD = r"[A-Z][a-zÀ-ÿ'’][A-Za-zÀ-ÿ'’-]{0,60}"
_NAME = lazy_regex(rf"\b{_WORD}(?:(?: (?:of|the|de|la|von|van|&))? (?:{_WORD}|[A-Z]\.)){{1,5}}")
_PRINTED = lazy_regex(
    r"\bprint\(|\bquery\w*\s*=|search\(|console\.log\(|^\s*(?:import|from)\s|\{\w*\}|path[/_]to[/_]", re.IGNORECASE
)
"""Lines of code that state nothing: output, searches, imports, templates, placeholders."""
_PAGE = lazy_regex(r"https?://[^/]+/(?:[^/]*\d|[^/]+/[^/]|[^/]{12})")
_ARTICLE = lazy_regex(r"^(?:The|A|An|In|On|At|For|From|If|This|That|These|It|We|By|To) ")
_HEADING = lazy_regex(r"^\s{0,3}#|^[^\n]{0,80}:\s*\**$")
_LABELS = lazy_regex(r"[_:]|\s?\*{1,2}:?(?:\*|\s|$)")
"""What follows a label, not a name."""
_LISTED = lazy_regex(r"^\s*\d{1,2}[.)]\s")
_FENCED = lazy_regex(r"```\w+\n.*?(?:```|\Z)", re.DOTALL)
_STOP = lazy_regex(r"(?:(?<!\W)\W++)?TERMINATE\W*+\Z")
_RESULT = lazy_regex(r"(?<=[\d)}\]%] )=\s*\\?[$€£]?\s*|(?<=[\d)}\]%])=\s*")
"""What a calculation ends in; an assignment in code is none."""


class ClaimedValue(NamedTuple):
    text: str
    kind: ValueKind


def unsupported_claims(
    attempt: Attempt, case: Case | None, uses: Sequence[ToolUse], mentions: Mentions
) -> Iterator[Observation]:
    """For each step that brought such values up, one observation."""
    messages = last_messages(attempt.steps)
    if not messages:
        return
    answer = messages[0]
    callers = {use.reply_step.index: use for use in uses if use.is_code}
    expected = case.expected if case is not None else None
    right = folded_text(as_json(expected)) if expected is not None else ""
    restated = _restates_task(attempt.steps[0], case)
    # where actions are expected, names are mostly labels of what the agent lists
    with_names = not isinstance(expected, dict | list)
    groups: dict[int, tuple[Step, list[ClaimedValue]]] = {}
    final: set[int] = set()
    for message in messages:
        text = message.text if message is answer else _without_code(message.text)
        for value in islice(values_in(_end_of(text)), MOST):
            if folded_text(value.text) in right or (value.kind == "name" and not with_names):
                continue
            origin = _origin(value, attempt, mentions, callers)
            if origin is not None and (message is answer or origin is not message):
                values = groups.setdefault(origin.index, (origin, []))[1]
                values += [value] if value not in values else []
                if message is answer and value.kind != "name":
                    final.add(origin.index)
    for step, values in groups.values():
        is_handed = restated and step is attempt.steps[0]
        yield Observation(
            kind="unsupported_claim",
            step=step.index,
            speaker=speaker_of(step),
            text=_text(values, is_answer=step is answer, is_handed=is_handed),
            quote=words_with(step, values[0].text),
            related_step=answer.index if step is not answer else None,
            strength="strong" if step.index in final and not is_handed else "moderate",
        )


def _origin(value: ClaimedValue, attempt: Attempt, mentions: Mentions, callers: dict[int, ToolUse]) -> Step | None:
    """The step that brought up a value that nothing supports."""
    origin = _unsupported(value, mentions, callers)
    if origin is None or origin.step is None:
        return None
    if value.kind == "number" and _is_worked_out(value.text, attempt.steps[max(origin.at - 2, 0) : origin.at + 1]):
        return None
    if value.kind == "name" and value.text.lower() in origin.step.text:
        return None
    return origin.step


def _text(values: Sequence[ClaimedValue], *, is_answer: bool, is_handed: bool) -> str:
    listed = listed_values(value.text for value in values)
    if is_handed:
        return f"The hand-over names {listed}, which the task does not; the answer relies on it."
    where = "answers with" if is_answer else "is the first to name"
    return f"The agent {where} {listed}, which no task, user or tool result has" + (
        "." if is_answer else "; the answer relies on it."
    )


def last_messages(steps: Sequence[Step]) -> list[Step]:
    """The last messages of agents that are more than the word which ends the conversation, the answer first."""
    messages = (one for one in reversed(steps) if is_agent(one) and len(_STOP.sub("", one.text).split()) > 2)
    return list(islice(messages, MESSAGES))


def values_in(text: str) -> Iterator[ClaimedValue]:
    """Values that can be traced: links, quotations, numbers of two or more digits, names of two or more words."""
    seen: set[str] = set()
    for line in text.splitlines():
        if _HEADING.match(line) or _PRINTED.search(line):
            continue
        start = match.end() if (match := _LISTED.match(line)) else 0
        for kind, value in _line_values(line[start:]):
            if value.lower() not in seen:
                seen.add(value.lower())
                yield ClaimedValue(value, kind)


def _line_values(line: str) -> Iterator[tuple[ValueKind, str]]:
    for match in _LINK.finditer(line):
        if _PAGE.match(match[0]):
            yield "link", match[0].rstrip(".,;")
    line = _LINK.sub(" ", line)
    if (alone := _ALONE.match(line)) and not alone[1].strip(" .$").isdigit():
        yield "quote", alone[1].strip(" .")
    for match in _QUOTE.finditer(line):
        yield "quote", match[1].strip(" .,")
    for match in _NUMBER.finditer(line):
        yield "number", match[1]
    for match in _NAME.finditer(line):
        name = _ARTICLE.sub("", match[0]).removesuffix("'s").removesuffix("’s")
        if " " in name and not _LABELS.match(line, match.end()):
            yield "name", name


def _unsupported(value: ClaimedValue, mentions: Mentions, callers: dict[int, ToolUse]) -> ValueMention | None:
    """Who brought it up, where that was an agent and nothing else in the log has it."""
    first = None
    digits = value.text.replace(",", "") if value.kind == "number" else ""
    if len(digits) >= LAST_DIGITS and mentions.ends_an_id(digits):
        return None  # the last digits of a card
    if value.kind in ("quote", "name") and _is_label_with_id(value.text, mentions):
        return None
    if digits and _is_rounded(digits, mentions):
        return None
    if value.kind == "name" and all(_is_named(word, mentions) for word in value.text.split()):
        return None  # first and last name in fields of their own
    for mention in mentions.each(value.text):
        if mention.origin not in ("agent", "call"):
            caller = callers.get(mention.step.index) if mention.step is not None else None
            is_echo = caller is not None and value.kind == "number" and value.text in str(caller.arguments)
            if not is_echo:
                return None
        elif first is None:
            first = mention
    return first


def _is_label_with_id(text: str, mentions: Mentions) -> bool:
    """`Flight HAT052`: the id has a source, and the word before it only states what it is the id of."""
    label, _, last = text.rpartition(" ")
    return (
        label.isalpha() and last.isalnum() and not last.isalpha() and not last.isdigit() and _is_named(last, mentions)
    )


def _is_rounded(digits: str, mentions: Mentions) -> bool:
    """Of a longer number in a source, or of a share that is now a percentage."""
    decimals = len(digits.partition(".")[2])
    return mentions.has_source(float(digits), decimals) or mentions.has_source(float(digits) / 100, decimals + 2)


def _is_named(word: str, mentions: Mentions) -> bool:
    return any(mention.origin not in ("agent", "call") for mention in mentions.each(word))


def _is_worked_out(value: str, steps: Sequence[Step]) -> bool:
    """Whether a step shows how it got the number, or can have got it from two numbers that were just named."""
    wanted, text = _number(value), "\n".join(text_of(step)[:TAIL] for step in steps)
    if wanted is None or any(_number(text[one.end() : one.end() + 20]) == wanted for one in _RESULT.finditer(text)):
        return True
    named = [number for match in _NUMBER.finditer(text) if (number := _number(match[1])) and number != wanted]
    known = list(dict.fromkeys(named[:NUMBERS]))
    close = 0.5 / 10 ** len(value.partition(".")[2]) if "." in value else 0.5
    return any(
        abs(result - wanted) <= (close if result == left / right else 1e-9)
        for left, right in product(known, repeat=2)
        for result in (left + right, left - right, left * right, left / right)
        if left is not right
    )


def _number(text: str) -> float | None:
    match = re.match(r"\s*[$€£]?(\d[\d,]*(?:\.\d+)?)", text)
    try:
        return float(match[1].replace(",", "")) if match else None
    except ValueError:
        return None


def _restates_task(step: Step, case: Case | None) -> bool:
    task = next(iter(task_texts(case)), "") if case is not None else ""
    return bool(task) and task.strip()[:RESTATED] in step.text


def _without_code(text: str) -> str:
    """A query or a parameter states nothing."""
    return _FENCED.sub("", text) if "```" in text else text


def _end_of(text: str) -> str:
    return text if len(text) <= TAIL else text[text.find("\n", len(text) - TAIL) + 1 :]


LONGEST = 200
"""Characters of an answer that can be traced."""
SPECIFIC = 4
"""Characters from which on a right answer is not found by accident; three for a number."""
LAST_WORDS = 800
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
    end = _ASIDE.sub("", text[-LAST_WORDS:])
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
