"""One failure as the grouping sees it: its owner, its texts and its verdict."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from errata.buckets.rules import BROAD, OPEN
from errata.model import Attempt, Attribution, FailureKey, Run, Verdict
from errata.model.attribution import NO_KEY
from errata.model.check import WrongAnswer
from errata.model.record import Struct
from errata.text.clean import clean
from errata.text.judge_words import without_preamble
from errata.text.tool_output import key_line

MOST, LONGEST = 6, 600
"""Texts of a failure that are looked at, and characters of each."""


class FailureToGroup(Struct):
    """Built by the caller, who has the run, its attributions and its verdicts at hand."""

    attempt: str
    case: str = ""
    """The case key."""
    suite: str = ""
    """Failures of two suites are never in one bucket."""
    owner: str = "unknown"
    """Of the verdict, where there is one; else of the attribution."""
    rule_owner: str = ""
    """Of the attribution, where a verdict names another."""
    signal: str = ""
    """The most specific signal; empty where no rule decided (`check_failed`, `phase`, `nothing known`)."""
    means: str = ""
    """The meaning of that signal's rule, in words."""
    cluster: str = ""
    """The label that a taxonomy of causes suggests (conversation-bench's eight); not `other`, and no owner's word."""
    key: FailureKey = NO_KEY
    texts: tuple[str, ...] = ()
    """The most specific first: the error's message, a check's explanation, a judge's reasoning."""
    answer: WrongAnswer | None = None
    """Of a wrong answer: what was answered and what was expected, as far as both are short."""
    shows_work: bool = True
    """Whether the log holds anything that the subject did."""
    is_common: bool = False
    """Whether several failures of the suite gave this answer in place of this expected one."""
    verdict: Verdict | None = None
    """The standing verdict."""
    final: bool = False
    """Whether that verdict counts: read by its reviewer, and seconded where that is needed (`Standing.final`)."""
    reviewed_cluster: str = ""
    """The label of that verdict, where its taxonomy is one of causes."""
    parameters: Mapping[str, str] = {}
    """provider, model, tool, category, step, slice …: what may hide behind a symptom."""
    follows: str | None = None
    """The attempt whose failure this one only repeats."""


class RuleMeaning(NamedTuple):
    """What is to be known of a rule of triage; rules that decide by default are not among them."""

    means: str
    owner: str = ""
    """Empty where it names several."""


def failure_to_group(
    run: Run,
    attempt: Attempt,
    attribution: Attribution,
    *,
    rules: Mapping[str, RuleMeaning],
    parameters: Mapping[str, str],
    cluster: str = "",
    lines: Sequence[str] = (),
    answer: WrongAnswer | None = None,
    verdict: Verdict | None = None,
    final: bool = False,
    reviewed_cluster: str = "",
) -> FailureToGroup:
    """`lines` are what the attempt's own logs say is wrong; `final` is `Standing.final` of its verdict."""
    signal = _telling(attribution, rules)
    return FailureToGroup(
        attempt=attempt.id,
        case=attempt.case,
        suite=run.suite,
        owner=verdict.owner if verdict else attribution.owner,
        rule_owner=attribution.owner if verdict else "",
        signal=signal,
        means=rules[signal].means if signal else "",
        cluster=cluster,
        key=attribution.failure_key,
        texts=tuple(dict.fromkeys(_texts(attempt, _quoted(attribution, signal), lines)))[:MOST],
        answer=answer,
        shows_work=attempt.shows_work,
        verdict=verdict,
        final=final,
        reviewed_cluster=reviewed_cluster,
        parameters=parameters,
        follows=attempt.follows or attribution.follows or None,
    )


def _telling(attribution: Attribution, rules: Mapping[str, RuleMeaning]) -> str:
    """The signal that decided; where it names only an owner, a more specific signal of the same owner."""
    decided = attribution.decided_by if attribution.decided_by in rules else ""
    if decided and decided not in BROAD:
        return decided
    others = (one.name for one in attribution.signals if one.name in rules and one.name not in BROAD)
    return next((name for name in others if rules[name].owner == attribution.owner), decided)


def _quoted(attribution: Attribution, signal: str) -> str:
    """Where a rule names only the kind of error, its quote has the details: `uvx: command not found`."""
    return next((one.words for one in attribution.signals if one.name == signal), "") if signal in OPEN else ""


def _texts(attempt: Attempt, quoted: str, lines: Sequence[str]) -> Iterator[str]:
    texts = [quoted]
    if attempt.errors:
        texts += [key_line(error.message) for error in attempt.errors if not error.recovered]
    # a scorer that only repeats the answer explains nothing
    answer = attempt.output.text or attempt.output.answer or ""
    explained = [one.explanation for one in attempt.checks if one.failed and one.explanation not in answer]
    texts += [key_line(without_preamble(text)) for text in explained]
    # nor does one that broke beside the one that decides
    measured = attempt.measurement == "scored"
    texts += [check.error.message for check in attempt.checks if check.error and (check.counts or not measured)]
    texts += [*lines, *(without_preamble(one.reasoning) for one in attempt.objections), attempt.native_reason]
    yield from (clean(text[:LONGEST]) for text in texts if text.strip())


class RunParameters:
    """The parameters of the failures of one run; equal ones are one record, since a run may have very many failures."""

    def __init__(self, run: Run) -> None:
        self._of_run = {
            **{f"variant {name}": value for name, value in run.variant.items()},
            "provider": run.subject.provider or run.subject.model.rpartition("/")[0],
            "model": run.subject.model,
            "agent": run.subject.agent,
        }
        self._known: dict[tuple[str, ...], Mapping[str, str]] = {}

    def of(self, attempt: Attempt, category: str) -> Mapping[str, str]:
        step = next((check.name for check in attempt.checks if check.failed), "")
        calls = (call for step in attempt.steps for call in step.tool_calls if call.error) if attempt.steps else ()
        tool = next((call.name for call in calls), "")
        judge = attempt.judgements[0].judge if attempt.judgements else ""
        session = "" if attempt.session is None else str(attempt.session)
        limit = attempt.limit.type if attempt.limit else ""
        key = (category, step, tool, judge, session, limit)
        known = self._known.get(key)
        if known is None:
            parameters = self._of_run | dict(zip(_OF_ATTEMPTS, key, strict=True))
            known = self._known[key] = {name: value for name, value in parameters.items() if value}
        return known


_OF_ATTEMPTS = ("category", "step", "tool", "judge", "session", "limit")
