"""The sessions of a run one after the other, what changed between them, and which crash dragged others along."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from errata.compare.trials import Opinions, Trial, trial_of
from errata.model import Attempt, Run
from errata.model.output.compare import CascadeOutput, HiddenResultOutput, SessionOutput
from errata.model.record import Struct


class Timeline(Struct):
    sessions: tuple[SessionOutput, ...]
    changes: tuple[HiddenResultOutput, ...]
    never_measured: tuple[str, ...]
    """Cases that no session has measured."""
    cascades: tuple[CascadeOutput, ...]

    @property
    def hidden_passes(self) -> tuple[HiddenResultOutput, ...]:
        """What passed in an earlier session and does not pass as it is counted now."""
        return tuple(one for one in self.changes if one.was == "pass")

    @property
    def hidden_fails(self) -> tuple[HiddenResultOutput, ...]:
        """What an earlier session measured as failed and is not measured as it is counted now."""
        return tuple(one for one in self.changes if one.was == "fail")


class _SessionTally:
    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.exit_codes: Counter[str] = Counter()
        self.costs: list[float] = []

    def add(self, trial: Trial, attempt: Attempt) -> None:
        word = "passed" if trial.passed else "failed" if trial.measured and trial.outcome != "none" else "not measured"
        self.outcomes[word] += 1
        self.exit_codes["none" if attempt.exit_code is None else str(attempt.exit_code)] += 1
        if trial.cost is not None:
            self.costs.append(trial.cost)


class _Root(NamedTuple):
    case: str
    error: str


def timeline(run: Run, attempts: Iterable[Attempt], opinions: Opinions) -> Timeline:
    """Of a run's attempts in the order of its log; parts of attempts are passed over."""
    by_session: dict[int, _SessionTally] = {}
    tries: dict[str, list[tuple[Trial, bool]]] = {}
    followers: dict[str, list[str]] = {}
    seen: dict[str, _Root] = {}
    for attempt in attempts:
        if attempt.parent is not None:
            continue
        trial = trial_of(attempt, opinions)
        by_session.setdefault(trial.session, _SessionTally()).add(trial, attempt)
        tries.setdefault(attempt.case, []).append((trial, attempt.counted))
        if attempt.is_failure:
            seen[attempt.id] = _Root(attempt.case, attempt.errors[0].message if attempt.errors else "")
        if root := _root_of(attempt, opinions):
            followers.setdefault(root, []).append(attempt.case)
    changes = tuple(change for of_case in tries.values() if (change := _change(of_case)) is not None)
    never = tuple(case for case, of_case in tries.items() if not any(trial.measured for trial, _ in of_case))
    return Timeline(
        sessions=tuple(_summaries(run, by_session)),
        changes=changes,
        never_measured=never if len(by_session) > 1 else (),
        cascades=tuple(_cascades(followers, seen)),
    )


def _root_of(attempt: Attempt, opinions: Opinions) -> str:
    attribution = opinions.attributions.get(attempt.id)
    return attempt.follows or (attribution.follows if attribution is not None else "")


def _change(tries: list[tuple[Trial, bool]]) -> HiddenResultOutput | None:
    """What is counted, against the latest earlier session that measured the same case."""
    now = next((one for one, counted in tries if counted), None)
    if now is None or now.passed:
        return None
    earlier = [one for one, counted in tries if not counted and one.measured and one.session < now.session]
    last = max(earlier, key=lambda one: (one.session, one.index), default=None)
    if last is None or (not last.passed and now.measured):
        return None
    return HiddenResultOutput(
        case=now.case,
        session=last.session,
        was="pass" if last.passed else "fail",
        now="fail" if now.measured else "not measured",
        cost=last.cost,
    )


def _summaries(run: Run, by_session: Mapping[int, _SessionTally]) -> Iterator[SessionOutput]:
    stated = {one.number: one for one in run.sessions}
    for number in sorted({*stated, *by_session}):
        counted, session = by_session.get(number, _SessionTally()), stated.get(number)
        yield SessionOutput(
            number=number,
            started_at=session.started_at if session else None,
            finished_at=session.finished_at if session else None,
            pattern=session.pattern if session else "",
            tried=counted.outcomes.total(),
            passed=counted.outcomes["passed"],
            failed=counted.outcomes["failed"],
            not_measured=counted.outcomes["not measured"],
            cost=sum(counted.costs) if counted.costs else None,
            exit_codes=dict(sorted(counted.exit_codes.items())),
        )


def _cascades(followers: Mapping[str, list[str]], seen: Mapping[str, _Root]) -> Iterator[CascadeOutput]:
    """The largest first."""
    for root, cases in sorted(followers.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        known = seen.get(root, _Root("", ""))
        yield CascadeOutput(root=root, case=known.case, error=known.error, followers=tuple(cases))
