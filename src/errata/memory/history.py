"""What earlier reports name: the failures of a run that repeat, what was done about them, and failures like one."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import msgspec

from errata.memory.effects import FailureSign, RunOutcomes, effects, sign_of_check
from errata.memory.known_gaps import is_infrastructure, measured_failures
from errata.memory.spelling import CaseSpellings
from errata.model import Action
from errata.model.history import MATCHES, ActionResult, Match, Mention
from errata.model.prior_report import PriorFailure, PriorReport
from errata.model.record import Struct


class MentionedCases(msgspec.Struct, frozen=True):
    cases: dict[str, tuple[Mention, ...]]
    ambiguous: tuple[tuple[Mention, tuple[str, ...]], ...] = ()
    """A name, in the mention's text, that fits several cases: none of them is taken for meant."""


def mentions(reports: Iterable[PriorReport], names: CaseSpellings) -> MentionedCases:
    by_case: dict[str, list[Mention]] = {}
    ambiguous = []
    for report in reports:
        for failure, keys in ((one, names.find(one.case)) for one in measured_failures(report)):
            mention = _mention(report, failure)
            if len(keys) == 1:
                by_case.setdefault(keys[0], []).append(mention)
            elif keys:
                ambiguous.append((msgspec.structs.replace(mention, text=failure.case), keys))
    return MentionedCases({key: tuple(_one_per_report(some)) for key, some in by_case.items()}, tuple(ambiguous))


def _one_per_report(some: Iterable[Mention]) -> Iterator[Mention]:
    """Two names in one report may be one case; the first that has a label is kept."""
    by_report: dict[str, Mention] = {}
    for mention in some:
        if mention.report not in by_report or (mention.label and not by_report[mention.report].label):
            by_report[mention.report] = mention
    return iter(by_report.values())


def outcomes_in(report: PriorReport, names: CaseSpellings, task_labels: Collection[str] | None = None) -> RunOutcomes:
    """The outcomes of a run as far as a report shows them: the cases that failed, and at which check.

    With `task_labels`, of another model: which failures a person gave to the task or its checks.
    """
    matched = [(keys[0], one) for one in measured_failures(report) if len(keys := names.find(one.case)) == 1]
    signs: dict[str, tuple[FailureSign, ...]] = {}
    for key, failure in matched:
        signs[key] = (*signs.get(key, ()), sign_of_check(failure.failed_check))
    return RunOutcomes(
        run=report.run,
        at=min(filter(None, (one.date for one in report.runs)), default=report.date or report.written),
        failed=frozenset(signs),
        signs=signs,
        reports=frozenset((report.path,)),
        not_the_models=None
        if task_labels is None
        else frozenset(key for key, one in matched if one.label in task_labels and not one.by_rule),
    )


def with_case_keys(action: Action, names: CaseSpellings) -> Action:
    """The action with the keys of those cases of a run that it names; the others keep their names."""
    keys = (found[0] if len(found := names.find(name)) == 1 else name for name in action.addresses)
    return msgspec.structs.replace(action, addresses=tuple(dict.fromkeys(keys)))


def effects_on(
    case: str, actions: Iterable[Action], now: RunOutcomes, before: Sequence[RunOutcomes]
) -> tuple[ActionResult, ...]:
    about = [msgspec.structs.replace(one, addresses=(case,)) for one in actions if case in one.addresses]
    return effects(about, now, before)


# --- the entries on the same case and check, or with a similar text


class ReportQuery(Struct):
    is_similar: Callable[[str], bool]
    text: str = ""
    """Entries that hold these very words are the nearest."""
    case: str = ""
    names: CaseSpellings = CaseSpellings(())
    sign: FailureSign = FailureSign()
    infrastructure: bool = False
    """Whether it is an infrastructure failure; one of the model on the same case is another failure."""
    is_own: Callable[[PriorReport], bool] = lambda _: False
    """Whether a report is about the run that is looked at: what it states of the case is the failure itself."""


class ReportMatch(Struct):
    match: Match
    case: str
    """As the report writes it; empty for a pattern over several cases."""
    key: str = ""
    """The case key, where the case is the one that is looked for."""
    mention: Mention


def find_entries(reports: Iterable[PriorReport], query: ReportQuery) -> list[ReportMatch]:
    """The nearest first, then the newest."""
    matches = [match for report in reports for match in _in_report(report, query)]
    newest = sorted(matches, key=lambda one: one.mention.date, reverse=True)
    return sorted(newest, key=lambda one: MATCHES.index(one.match))


def _in_report(report: PriorReport, query: ReportQuery) -> Iterator[ReportMatch]:
    is_own = query.is_own(report)
    for failure in report.failures:
        is_case = bool(query.case) and query.names.find(failure.case) == (query.case,)
        match = None if is_own and is_case else _match(failure, query, is_case=is_case)
        if match:
            mention = _mention(report, failure)
            yield ReportMatch(match=match, case=failure.case, key=query.case if is_case else "", mention=mention)
    for pattern in report.patterns:
        match = _text_match(pattern, query)
        if match:
            mention = Mention(
                report=report.path, date=report.date, run=report.run, model=_model(report, ""), text=pattern
            )
            yield ReportMatch(match=match, case="", mention=mention)


def _match(failure: PriorFailure, query: ReportQuery, *, is_case: bool) -> Match | None:
    by_case = _case_match(failure, query) if is_case else None
    matches = [match for match in (by_case, _text_match(failure.reasoning, query)) if match]
    return min(matches, key=MATCHES.index, default=None)


def _case_match(failure: PriorFailure, query: ReportQuery) -> Match | None:
    """Checks that are unknown on one side do not differ, but do not agree either."""
    if is_infrastructure(failure) != query.infrastructure:
        return None
    checks = sign_of_check(failure.failed_check).checks
    if not checks or not query.sign.checks:
        return "same_case"
    return None if checks.isdisjoint(query.sign.checks) else "same_check"


def _text_match(text: str, query: ReportQuery) -> Match | None:
    if query.text and query.text.casefold() in text.casefold():
        return "same_text"
    return "similar_text" if query.is_similar(text) else None


def _mention(report: PriorReport, failure: PriorFailure) -> Mention:
    return Mention(
        report=report.path,
        line=failure.ref.line if failure.ref else None,
        date=report.date,
        run=failure.run or report.run,
        model=_model(report, failure.run),
        label=failure.label,
        by_rule=failure.by_rule,
        failed_check=failure.failed_check,
        text=failure.reasoning,
    )


def _model(report: PriorReport, run: str) -> str:
    return next((one.model for one in report.runs if run and one.id == run and one.model), report.model)


def texts_in(reports: Iterable[PriorReport]) -> Iterator[str]:
    for report in reports:
        yield from (failure.reasoning for failure in report.failures if failure.reasoning)
        yield from report.patterns
