"""One failure of a batch: cause, exact error, fix, and its way through the sessions."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from errata.compare.sessions import Timeline
from errata.model import Attempt, Attribution, Case, ErrorInfo, StoredRun
from errata.model.identity import split_attempt_id
from errata.model.output.report.batch import Category, Failure, Fix, Moment, Test
from errata.model.output.report.shared import Piece
from errata.report.parts import plural
from errata.runs.explanation import BY_DEFAULT, meaning_of
from errata.runs.rules import rules_in_use
from errata.runs.standings import Said, standing_now
from errata.store.attempts import case_of, with_texts
from errata.store.database import Store
from errata.store.reviews import word_for
from errata.text.outgoing import short_line
from errata.triage.log_lines import has_logs
from errata.triage.reasons import reason_of
from errata.triage.rulebook import Rule

QUOTE = 240
JUDGED = 3


@dataclass(frozen=True)
class Batch:
    """What the store holds of a batch, by case."""

    stored: StoredRun
    store: Store
    tests: Mapping[str, Test]
    counted: Mapping[str, Attempt]
    failing: Mapping[str, Attempt]
    earlier: Mapping[str, Sequence[Attempt]]
    children: Mapping[str, Sequence[Attempt]]
    cases: Mapping[str, Case]
    attributed: Mapping[str, Attribution]
    """By attempt id."""
    timeline: Timeline

    @cached_property
    def said(self) -> dict[str, Said]:
        return standing_now(self.stored, self.store)

    @cached_property
    def rules(self) -> Mapping[str, Rule]:
        """Those in use; looked up once."""
        return rules_in_use().book.rules

    @cached_property
    def means(self) -> Callable[[str], str]:
        """What a rule says in words."""
        return cache(meaning_of)

    def case(self, key: str) -> Case | None:
        """With its files, where it has any."""
        known = self.cases.get(key)
        return case_of(self.store, self.stored.pk, key) if known is not None and known.artefacts else known

    def owner(self, attempt: str) -> str:
        """Who has to act: as a reader says, else as the rules do."""
        if attempt in self.said:
            return self.said[attempt].standing.verdict.owner
        return self.attributed[attempt].owner if attempt in self.attributed else ""

    def is_read(self, attempt: str) -> bool:
        return attempt in self.said and self.said[attempt].standing.final


def failure_facts(batch: Batch, categories: Iterable[Category]) -> Iterator[Failure]:
    letters = {test: one for one in categories for test in one.tests}
    for case, attempt in sorted(batch.failing.items(), key=lambda pair: batch.tests[pair[0]].id):
        yield _failure(batch, case, attempt, letters[batch.tests[case].id])


def _failure(batch: Batch, case: str, attempt: Attempt, category: Category) -> Failure:
    test, said = batch.tests[case], batch.attributed.get(attempt.id)
    stood = batch.said.get(attempt.id)
    verdict = stood.standing.verdict if stood is not None else None
    error = attempt.errors[0] if attempt.errors else None
    known = batch.case(case)
    children = batch.children.get(case, ())
    return Failure(
        test=test,
        category=category.letter,
        owner=verdict.owner if verdict is not None else said.owner if said is not None else "unknown",
        confidence=verdict.confidence if verdict is not None else said.confidence if said is not None else "weak",
        reviewed=verdict is not None,
        cause=_cause(batch, attempt, said, verdict.cause if verdict is not None else "", children),
        error=exact(error.traceback or error.message, error) if error is not None else "",
        place=str(error.ref) if error is not None and error.ref is not None else _first_place(attempt),
        hits=_hits(attempt),
        fix=_fix(batch, stood, said),
        needed=_needed(test, category),
        evidence=tuple(_evidence(said, stood)),
        timeline=tuple(_timeline(batch, case, attempt)),
        stored=_stored(children),
        task=str(known.input) if known is not None and known.input else "",
        rubric=_rubric(known),
        criteria=tuple(_criteria(children)),
        judges=tuple(_judges(attempt, children)),
        follows=_root(batch, said),
    )


def _cause(batch: Batch, attempt: Attempt, said: Attribution | None, read: str, children: Sequence[Attempt]) -> str:
    if read:
        return read
    if said is None:
        return ""
    if said.decided_by in BY_DEFAULT:
        told = reason_of(with_texts(batch.store, attempt) if has_logs(attempt) else attempt, said)
        spent = " It spent money and was scored" if attempt.usage.cost else " It was scored"
        score = f": {attempt.reported:.3f}" if attempt.reported is not None else ""
        why = f' The log says: "{short_line(told.text, QUOTE)}".' if told else ""
        return f"The task was not solved.{spent}{score}.{why}{_judged(children)}"
    means = batch.means(said.decided_by)
    fix = _rule_fix(batch, said)
    more = f" {fix.cause[:1].upper()}{fix.cause[1:]}." if fix is not None else ""
    return f"{means[:1].upper()}{means[1:]}.{more}"


def _judged(children: Sequence[Attempt]) -> str:
    """What judges say most often about the runs that failed."""
    failed = [one for one in children if one.outcome == "fail"]
    said = Counter(short_line(each.reasoning, QUOTE) for one in failed for each in one.objections[:1] if each.reasoning)
    if not said:
        return ""
    text, often = said.most_common(1)[0]
    return f' The judge says of {often} of {len(failed)} failed runs: "{text.rstrip(".")}".'


def _rule_fix(batch: Batch, said: Attribution | None) -> Fix | None:
    rule = batch.rules.get(said.decided_by) if said is not None else None
    if rule is None or rule.fix is None:
        return None
    fix = rule.fix
    return Fix(cause=fix.cause, before=fix.before, after=fix.after, path=fix.path, by=f"the rule {rule.name}")


def _fix(batch: Batch, stood: Said | None, said: Attribution | None) -> Fix | None:
    verdict = stood.standing.verdict if stood is not None else None
    if verdict is not None and verdict.fix is not None:
        fix, told = verdict.fix, verdict.recommendation
        cause = told.text if told is not None else verdict.cause
        return Fix(cause=cause, before=fix.before, after=fix.after, path=fix.path, by=word_for(verdict.reviewer))
    return _rule_fix(batch, said)


def _first_place(attempt: Attempt) -> str:
    return str(attempt.ref) if attempt.ref is not None else ""


def exact(text: str, error: ErrorInfo) -> str:
    """As the log has it; with its type, where the text does not say that."""
    return text if not error.type or error.type in text else f"{error.type}: {text}"


class Hits(NamedTuple):
    """How many of its subtests an error struck."""

    struck: int
    of: int


def hits_of(attempt: Attempt) -> Hits | None:
    hits = attempt.errors[0].hits if attempt.errors else ()
    known = {part.path for part in attempt.parts if "/" in part.path} | set(hits)
    return Hits(len(hits), len(known)) if hits else None


def _hits(attempt: Attempt) -> str:
    hits = hits_of(attempt)
    return f"{hits.struck} of {hits.of}" if hits else ""


def _needed(test: Test, category: Category) -> str:
    if not category.framework:
        return ""
    if test.earlier.startswith("PASS"):
        return f"A repeated session reports this test as it was measured before ({test.earlier})"
    return "A repeated session measures this test"


def _evidence(said: Attribution | None, stood: Said | None) -> Iterator[Piece]:
    if stood is not None:
        for quote in stood.standing.verdict.evidence:
            yield Piece(place=quote.place, quote=short_line(quote.quote, QUOTE))
        return
    for signal in said.signals if said is not None else ():
        if signal.quote and said_more(signal.quote):
            yield Piece(
                place=str(signal.ref) if signal.ref is not None else signal.where, quote=short_line(signal.quote, QUOTE)
            )


def said_more(quote: str) -> bool:
    """`fail` alone is no evidence."""
    return len(quote.split()) > 1


def _timeline(batch: Batch, case: str, attempt: Attempt) -> Iterator[Moment]:
    tries = sorted([*batch.earlier.get(case, ()), attempt], key=lambda one: (one.session or 0, one.index))
    for one in tries:
        start, end = ((moment or "")[11:19] for moment in (one.started_at, one.finished_at))
        yield Moment(
            session=one.session or 1,
            when=f"{start} – {end}" if start and end else start or "unknown",
            result=_result(one),
            place=str(one.ref) if one.ref is not None else "",
        )


def _result(one: Attempt) -> str:
    cost = f", ${one.usage.cost:.4f}" if one.usage.cost is not None else ""
    error = f": {short_line(one.errors[0].message, 100)}" if one.errors else ""
    if one.outcome in ("pass", "fail", "partial"):
        score = f" {one.reported:.3f}" if one.reported is not None else ""
        return f"{one.outcome.upper()}{score}{cost}"
    exit_code = f", exit {one.exit_code}" if one.exit_code is not None else ""
    return f"{one.execution}{exit_code}{cost}{error}"


def _stored(children: Sequence[Attempt]) -> str:
    if not children:
        return ""
    passed = sum(one.outcome == "pass" for one in children)
    costs = [one.usage.cost for one in children if one.usage.cost is not None]
    return f"{passed} of {len(children)} runs pass{f', ${sum(costs):.4f}' if costs else ''}"


def _judges(attempt: Attempt, children: Sequence[Attempt]) -> Iterator[str]:
    told = (one.reasoning for each in (attempt, *children) for one in each.judgements if one.reasoning)
    yield from list(dict.fromkeys(short_line(text, QUOTE) for text in told))[:JUDGED]


def _rubric(case: Case | None) -> str:
    """The text for people where there is one, else the file for the program."""
    files = [one for one in case.artefacts if one.role == "grader" and one.text] if case is not None else []
    told = next((one for one in files if one.path.endswith(".md")), files[0] if files else None)
    return (told.text or "") if told is not None else ""


def _criteria(children: Sequence[Attempt]) -> Iterator[str]:
    """What the rubric asked for, and in how many of the stored runs it was met."""
    asked: dict[str, list[bool]] = {}
    for one in children:
        for check in one.checks:
            if check.kind == "criterion" and check.status in ("pass", "fail"):
                asked.setdefault(check.name, []).append(check.status == "pass")
    for name, met in asked.items():
        if not any(other.startswith(f"{name}/") for other in asked):  # a sum of others
            yield f"{name}: met {sum(met)} of {plural(len(met), 'time')}"


def _root(batch: Batch, said: Attribution | None) -> str:
    if said is None or not said.follows:
        return ""
    case = split_attempt_id(said.follows).case
    return batch.tests[case].id if case in batch.tests else said.follows
