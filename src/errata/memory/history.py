"""What repeats: which failures of a run earlier reports name, and what was done about them in the meantime."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from errata.memory.effects import RunOutcomes, effects
from errata.memory.known_gaps import measured_failures
from errata.memory.same_failure import FailureSign, sign_of_check
from errata.memory.spelling import CaseSpellings
from errata.model import Action
from errata.model.history import ActionResult, Mention
from errata.model.prior_report import PriorReport


class MentionedCases(msgspec.Struct, frozen=True):
    """The cases of a run that reports name as failed."""

    cases: dict[str, tuple[Mention, ...]]
    ambiguous: tuple[tuple[Mention, tuple[str, ...]], ...] = ()
    """A name, in the mention's text, that fits several cases: none of them is taken for meant."""


def mentions(reports: Iterable[PriorReport], names: CaseSpellings) -> MentionedCases:
    by_case: dict[str, list[Mention]] = {}
    ambiguous = []
    for report in reports:
        for failure, keys in ((one, names.find(one.case)) for one in measured_failures(report)):
            mention = Mention(
                report=report.path,
                line=failure.ref.line if failure.ref else None,
                date=report.date,
                run=report.run,
                model=report.model,
                label=failure.label,
                by_rule=failure.by_rule,
                failed_check=failure.failed_check,
                text=failure.reasoning,
            )
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


def outcomes_in(report: PriorReport, names: CaseSpellings) -> RunOutcomes:
    """The outcomes of a run as far as a report shows them: the cases that failed, and at which check."""
    matched = [(keys[0], one) for one in measured_failures(report) if len(keys := names.find(one.case)) == 1]
    signs: dict[str, tuple[FailureSign, ...]] = {}
    for key, failure in matched:
        signs[key] = (*signs.get(key, ()), sign_of_check(failure.failed_check))
    return RunOutcomes(
        run=report.run, at=report.date, failed=frozenset(signs), signs=signs, reports=frozenset((report.path,))
    )


def with_case_keys(action: Action, names: CaseSpellings) -> Action:
    """The action with the keys of those cases of a run that it names; the others keep their names."""
    keys = (found[0] if len(found := names.find(name)) == 1 else name for name in action.addresses)
    return msgspec.structs.replace(action, addresses=tuple(dict.fromkeys(keys)))


def effects_on(
    case: str, actions: Iterable[Action], now: RunOutcomes, before: Sequence[RunOutcomes]
) -> tuple[ActionResult, ...]:
    """What a run shows of each action that addresses a case, as far as that case goes."""
    about = [msgspec.structs.replace(one, addresses=(case,)) for one in actions if case in one.addresses]
    return effects(about, now, before)
