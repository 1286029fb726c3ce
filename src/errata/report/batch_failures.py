"""One failure of a batch: cause, exact error, fix, and its way through the sessions."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from errata.model import Attempt, Attribution, Case, ErrorInfo, Signal, Verdict
from errata.model.case_versions import CaseBook
from errata.model.identity import split_attempt_id
from errata.model.output.report.batch import (
    BatchCategory,
    BatchFailure,
    BatchFix,
    BatchTest,
    Criterion,
    JudgeWords,
    Moment,
    Share,
    StoredRuns,
)
from errata.model.output.report.shared import QuotedEvidence
from errata.model.standing import AttemptReview
from errata.model.verdict import DROPPED, word_for
from errata.model.words import Confidence
from errata.runs.explanation import BY_DEFAULT, meaning_of
from errata.runs.standings import counts
from errata.runs.view import RunView
from errata.text.outgoing import short_line
from errata.transcript.error_text import has_logs
from errata.triage.reasons import reason_of
from errata.triage.rulebook import Rule
from errata.triage.rulesets import rules_in_use

QUOTE, MOMENT = 240, 100
JUDGED = 3


@dataclass(frozen=True)
class BatchAttempts:
    """The attempts of a batch by case: one pass over all of them."""

    view: RunView
    tests: Mapping[str, BatchTest]
    counted: Mapping[str, Attempt]
    failing: Mapping[str, Attempt]
    earlier: Mapping[str, Sequence[Attempt]]
    children: Mapping[str, Sequence[Attempt]]
    cases: CaseBook

    @cached_property
    def rules(self) -> Mapping[str, Rule]:
        """Those in use; looked up once."""
        return rules_in_use().book.rules

    @cached_property
    def means(self) -> Callable[[str], str]:
        """Rule → its meaning in words."""
        return cache(meaning_of)

    def case(self, attempt: Attempt) -> Case | None:
        """As the attempt had it, with its files, where it has any."""
        known = self.cases.of(attempt)
        return self.view.case_for(attempt) if known is not None and known.artefacts else known

    def owner(self, attempt: str) -> str:
        """Who has to act: by the review, else by the rules."""
        verdict, attribution = self.verdict(attempt), self.view.attributions.get(attempt)
        return verdict.owner if verdict is not None else attribution.owner if attribution is not None else ""

    def confidence(self, attempt: str) -> Confidence:
        """By the review, else by the rules."""
        verdict, attribution = self.verdict(attempt), self.view.attributions.get(attempt)
        known = verdict if verdict is not None else attribution
        return known.confidence if known is not None else "weak"

    def verdict(self, attempt: str) -> Verdict | None:
        review = self.view.standings.get(attempt)
        return review.standing.verdict if review is not None else None

    def is_final(self, attempt: str) -> bool:
        """As the coverage of the whole report counts it."""
        review = self.view.standings.get(attempt)
        return review is not None and counts(review.standing)

    def agreeing_rule(self, attempt: str) -> str:
        """The rule that decided; empty where a reviewer names another owner."""
        attribution = self.view.attributions.get(attempt)
        return attribution.decided_by if attribution is not None and attribution.owner == self.owner(attempt) else ""

    def rule_fix(self, name: str) -> BatchFix | None:
        rule = self.rules.get(name)
        if rule is None or rule.fix is None:
            return None
        fix = rule.fix
        return BatchFix(
            cause=fix.cause, action=fix.action, before=fix.before, after=fix.after, path=fix.path, rule=rule.name
        )

    def test_of(self, attempt: str) -> str:
        case = split_attempt_id(attempt).case
        return self.tests[case].id if case in self.tests else attempt

    @cached_property
    def test_of_verdict(self) -> Mapping[str, str]:
        reviews = self.view.standings.items()
        return {one.id: self.test_of(attempt) for attempt, review in reviews for one in review.verdicts}


def collect_failures(batch: BatchAttempts, categories: Iterable[BatchCategory]) -> Iterator[BatchFailure]:
    letters = {test: one.letter for one in categories for test in one.tests}
    for case, attempt in sorted(batch.failing.items(), key=lambda pair: batch.tests[pair[0]].id):
        yield _failure(batch, case, attempt, letters[batch.tests[case].id])


def _failure(batch: BatchAttempts, case: str, attempt: Attempt, letter: str) -> BatchFailure:
    attribution, standing = batch.view.attributions.get(attempt.id), batch.view.standings.get(attempt.id)
    verdict = standing.standing.verdict if standing is not None else None
    error = attempt.lasting_error
    inherited = verdict.inherited_from if verdict is not None else None
    fix, follows = _fix(batch, attempt.id, verdict), _root(batch, attribution)
    known, children = batch.case(attempt), batch.children.get(case, ())
    decided_by = attribution.decided_by if attribution is not None else ""
    by_default = decided_by in BY_DEFAULT
    return BatchFailure(
        test=batch.tests[case],
        category=letter,
        owner=batch.owner(attempt.id) or "unknown",
        confidence=batch.confidence(attempt.id),
        proof=attribution.proof if attribution is not None and verdict is None else "",
        proof_reason=attribution.proof_reason if attribution is not None and verdict is None else "",
        reviewed=verdict is not None and not inherited,
        reviewer=word_for(verdict.reviewer) if verdict is not None else "",
        final=batch.is_final(attempt.id),
        inherited_from=batch.test_of_verdict.get(inherited, "another test") if inherited else "",
        cause=verdict.cause if verdict is not None else "",
        mechanism=_mechanism(verdict, fix, _how_it_follows(follows, decided_by), error),
        decided_by=decided_by,
        rule_means="" if by_default or not decided_by else batch.means(decided_by),
        reason=_reason(batch, attempt, attribution) if by_default else "",
        judge=_judge(children) if by_default else None,
        error=_whole(error) if error is not None else "",
        place=str(error.ref) if error is not None and error.ref is not None else _first_place(attempt),
        hits=hits_of(attempt),
        fix=fix or _after_the_root(follows),
        doubts=_doubts(verdict),
        evidence=tuple(_evidence(attribution, standing)),
        timeline=tuple(_timeline(batch, case, attempt)),
        stored=_stored(children),
        task=str(known.input) if known is not None and known.input else "",
        rubric=_rubric(known),
        criteria=tuple(_criteria(children)),
        judges=tuple(_judges(attempt, children)),
        follows=follows,
    )


def _reason(batch: BatchAttempts, attempt: Attempt, attribution: Attribution | None) -> str:
    return short_line(
        reason_of(batch.view.with_texts(attempt) if has_logs(attempt) else attempt, attribution).text, QUOTE
    )


def _judge(children: Sequence[Attempt]) -> JudgeWords | None:
    failed = [one for one in children if one.outcome == "fail"]
    reasonings = Counter(
        short_line(each.reasoning, QUOTE) for child in failed for each in child.objections[:1] if each.reasoning
    )
    if not reasonings:
        return None
    text, often = reasonings.most_common(1)[0]
    return JudgeWords(text=text, runs=Share(count=often, of=len(failed)))


def _fix(batch: BatchAttempts, attempt: str, verdict: Verdict | None) -> BatchFix | None:
    """Of the review, else of the rule, unless the review contradicts it."""
    by_reviewer = fix_of_verdict(verdict) if verdict is not None else None
    return by_reviewer or batch.rule_fix(batch.agreeing_rule(attempt))


def fix_of_verdict(verdict: Verdict) -> BatchFix | None:
    """Its change of code, else its recommendation."""
    fix, reviewer = verdict.fix, word_for(verdict.reviewer)
    advice = verdict.recommendation.text.strip() if verdict.recommendation is not None else ""
    if fix is not None:
        return BatchFix(
            cause=advice or verdict.cause, before=fix.before, after=fix.after, path=fix.path, reviewer=reviewer
        )
    if verdict.recommendation is None or not advice:
        return None
    path = verdict.recommendation.target_path
    return BatchFix(cause=verdict.cause, action=advice, path=path, reviewer=reviewer)


def _doubts(verdict: Verdict | None) -> tuple[str, ...]:
    """The reviewer's own, without what errata dropped from the answer."""
    if verdict is None:
        return ()
    return tuple(one for one in verdict.doubts if one not in verdict.extra.get(DROPPED, ()))


def _after_the_root(root: str) -> BatchFix | None:
    """The fix of a knock-on failure is the fix of what it follows from."""
    if not root:
        return None
    return BatchFix(
        cause=f"it only follows from {root}, which failed first", action=f"Fix {root} first, then rerun this test"
    )


def _mechanism(verdict: Verdict | None, fix: BatchFix | None, follows: str, error: ErrorInfo | None) -> str:
    if verdict is not None:
        return verdict.underlying_mistake or verdict.reasoning
    if fix is not None and fix.rule:
        return fix.cause
    return follows or (f"raised at `{error.frame}`" if error is not None and error.frame else "")


def _how_it_follows(root: str, decided_by: str) -> str:
    if not root:
        return ""
    if decided_by == "disk_still_full":
        return f"the disk was full since {root}"
    if decided_by == "ended_by_another":
        return f"the failure of {root} ended this test or was in its way"
    return f"it stumbled over what {root} left behind when it failed"


def _first_place(attempt: Attempt) -> str:
    return str(attempt.ref) if attempt.ref is not None else ""


def exact(text: str, error: ErrorInfo) -> str:
    """As the log has it, with its type where the text lacks it."""
    return text if not error.type or error.type in text else f"{error.type}: {text}"


def _whole(error: ErrorInfo) -> str:
    """With its traceback, which mostly ends in the message."""
    first = error.message.split("\n", 1)[0]
    stated = exact(error.message, error)
    return exact(error.traceback, error) if first in error.traceback else f"{stated}\n{error.traceback}".rstrip()


def hits_of(attempt: Attempt) -> Share | None:
    """How many of its subtests an error struck."""
    hits = attempt.lasting_error.hits if attempt.lasting_error is not None else ()
    known = {part.path for part in attempt.parts if "/" in part.path} | set(hits)
    return Share(count=len(hits), of=len(known)) if hits else None


def _evidence(attribution: Attribution | None, standing: AttemptReview | None) -> Iterator[QuotedEvidence]:
    if standing is not None and standing.standing.verdict.evidence:
        for quote in standing.standing.verdict.evidence:
            yield QuotedEvidence(place=quote.place, quote=short_line(quote.quote, QUOTE))
        return
    signals = [one for one in attribution.signals if len(one.words.split()) > 1] if attribution is not None else []
    # `fail` alone is not evidence; two rules may match one line
    shown: dict[str, Signal] = {}
    for signal in signals:
        shown.setdefault(signal.words, signal)
    for signal in shown.values():
        place = str(signal.ref) if signal.ref is not None else signal.where
        yield QuotedEvidence(place=place, quote=short_line(signal.quote, QUOTE), stated=signal.stated)


def _timeline(batch: BatchAttempts, case: str, attempt: Attempt) -> Iterator[Moment]:
    tries = sorted([*batch.earlier.get(case, ()), attempt], key=lambda one: (one.session or 0, one.index))
    for tried in tries:
        yield Moment(
            session=tried.session or 1,
            started_at=tried.started_at,
            finished_at=tried.finished_at,
            outcome=tried.outcome,
            execution=tried.execution,
            score=tried.reported,
            cost=tried.usage.cost,
            exit_code=tried.exit_code,
            error=short_line(tried.lasting_error.message, MOMENT) if tried.lasting_error is not None else "",
            place=str(tried.ref) if tried.ref is not None else "",
        )


def _stored(children: Sequence[Attempt]) -> StoredRuns | None:
    if not children:
        return None
    costs = [one.usage.cost for one in children if one.usage.cost is not None]
    passed = sum(one.outcome == "pass" for one in children)
    return StoredRuns(passed=passed, of=len(children), cost=sum(costs) if costs else None)


def _judges(attempt: Attempt, children: Sequence[Attempt]) -> Iterator[str]:
    texts = (one.reasoning for each in (attempt, *children) for one in each.judgements if one.reasoning)
    yield from list(dict.fromkeys(short_line(text, QUOTE) for text in texts))[:JUDGED]


def _rubric(case: Case | None) -> str:
    """The text for people where there is one, else the file for the program."""
    files = [one for one in case.artefacts if one.role == "grader" and one.text] if case is not None else []
    chosen = next((one for one in files if one.path.endswith(".md")), files[0] if files else None)
    return (chosen.text or "") if chosen is not None else ""


def _criteria(children: Sequence[Attempt]) -> Iterator[Criterion]:
    """What the rubric asked for, and in how many of the stored runs it was met."""
    asked: dict[str, list[bool]] = {}
    for attempt in children:
        for check in attempt.checks:
            if check.kind == "criterion" and check.status in ("pass", "fail"):
                asked.setdefault(check.name, []).append(check.status == "pass")
    for name, met in asked.items():
        if not any(other.startswith(f"{name}/") for other in asked):  # a sum of others
            yield Criterion(name=name, met=Share(count=sum(met), of=len(met)))


def _root(batch: BatchAttempts, attribution: Attribution | None) -> str:
    if attribution is None or not attribution.follows:
        return ""
    return batch.test_of(attribution.follows)
