"""Why an attempt failed, in one line, as far as its own log shows it, and where that line is."""

from collections.abc import Iterable, Iterator

from errata.model import Attempt, Attribution
from errata.render.figures import share_passed
from errata.text.answers import as_written
from errata.text.clean import one_line
from errata.text.tool_output import key_line
from errata.transcript.error_text import NOTHING, ReasonQuote, explanations, is_measurement, own_texts, says_more

QUOTED = 40


def explained(attempt: Attempt, attribution: Attribution | None) -> bool:
    """Whether an error, a check or a judge explains more than the answer itself."""
    return bool(_first(_by_harness(attempt, attribution)))


def reason_of(attempt: Attempt, attribution: Attribution | None, expected: str = "") -> ReasonQuote:
    """The deciding quote, the error, a check's or judge's text, answer and expectation, or the harness's status."""
    by_harness = _first(_by_harness(attempt, attribution))
    if by_harness.text.startswith(_ONLY_NAMED):
        return _first(_by_writes(attribution)) or by_harness
    return (
        by_harness
        or _first(_by_writes(attribution))
        or _first(_by_answer(attempt, expected))
        or _first(explanations(attempt, _quotes_of_signals(attempt, attribution)))
        or _first(_by_status(attempt, attribution))
    )


def reason_in_words(attempt: Attempt, text: str) -> str:
    """The reason; `tests: 90 % passed` in place of a text that only states that a check failed."""
    check = next((one for one in attempt.checks if one.failed and one.share_passed is not None), None)
    if check is None or check.share_passed is None or says_more(text, attempt):
        return text
    return f"{check.name}: {share_passed(check.share_passed)}"


def _by_status(attempt: Attempt, attribution: Attribution | None) -> Iterator[ReasonQuote]:
    """Whatever is left, except that a check failed."""
    for where, text, stated in _quotes_of_signals(attempt, attribution):
        shown = key_line(text)
        if not any(shown == f"{check.name}: failed" for check in attempt.checks):
            yield ReasonQuote(where, shown, stated if shown.startswith(stated) else "")


def _first(quotes: Iterable[ReasonQuote]) -> ReasonQuote:
    return next(filter(None, quotes), NOTHING)


def _by_harness(attempt: Attempt, attribution: Attribution | None) -> Iterator[ReasonQuote]:
    quotes = _quotes_of_signals(attempt, attribution)
    return explanations(attempt, (one for one in quotes if not _is_beside(one.where, attempt)))


def _is_beside(where: str, attempt: Attempt) -> bool:
    """The words of a judge whose check does not count, where a program decided."""
    if not where.startswith("judgements["):
        return False
    judge = where.removeprefix("judgements[").removesuffix("]")
    own = [one for one in attempt.checks if judge in (one.judge, one.scorer, one.name)]
    decided = [one for one in attempt.checks if one.failed and one not in own]
    return bool(own) and not any(one.counts for one in own) and any(not one.judge for one in decided)


_FIELDS = (".type", ".code", ".frame")


def _quotes_of_signals(attempt: Attempt, attribution: Attribution | None) -> Iterator[ReasonQuote]:
    decided_by = attribution.decided_by if attribution is not None else ""
    for signal in attribution.signals if attribution is not None else ():
        # the name or place of an error, or a line of the answer, decides more often than it explains
        names = signal.where == "follows" or signal.where.endswith(_FIELDS) or signal.where.startswith("output ")
        # so does the provider's word for the end of an answer, where a step of the harness states what came of it
        names = names or (
            signal.where == "stop_reason" and any(one.failed and one.kind == "step" for one in attempt.checks)
        )
        explains = not names and signal.name != "harness_frame" and not is_measurement(signal.words)
        if signal.name == decided_by and explains:
            yield ReasonQuote(signal.where, signal.words, signal.stated)
    yield from own_texts(attempt)


_ONLY_NAMED = "expected call missing or different: "
"""A check that names calls; a signal about what the model changed also has the argument that differs."""
_WRITES = {"wrote_too_much": "not expected", "wrote_otherwise": "wrong change", "never_wrote": "never made"}


def _by_writes(attribution: Attribution | None) -> Iterator[ReasonQuote]:
    """A change that the reference does not have explains why the final state is wrong."""
    for signal in attribution.signals if attribution is not None else ():
        if signal.name in _WRITES:
            text = f"{_WRITES[signal.name]}: {one_line(signal.words)}"
            yield ReasonQuote(signal.where, text, text)


def _by_answer(attempt: Attempt, expected: str) -> Iterator[ReasonQuote]:
    if expected and attempt.outcome in ("fail", "partial"):
        text = attempt.output.text or ""
        answer = as_written(attempt.output.answer or text, text)
        stated = f"answered {_quoted(answer)}, expected {_quoted(expected)}"
        yield ReasonQuote("output", stated, stated)
    # checks that only inform are better than silence, except for a judge's beside the check that decided
    decided = any(check.failed for check in attempt.checks)
    for check in attempt.checks:
        if check.status == "fail" and not (decided and check.judge and not check.counts):
            yield ReasonQuote(f"checks[{check.name}]", key_line(check.explanation))


def _quoted(text: str) -> str:
    return f'"{one_line(text, QUOTED)}"' if text else "nothing"
