"""Whether an action worked: how the cases it addresses went in the runs before it and in a run after it."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from errata.model import Action, Run
from errata.model.history import ActionResult, Worked
from errata.model.times import is_local, moment_of

DAY = len("2026-03-04")
NAMED = 3


class RunOutcomes(msgspec.Struct, frozen=True, kw_only=True):
    """How the cases of a run went, as far as a store or an earlier report tells; keys, or names as a report has them.

    A case that failed in one attempt and passed in another is in both. What is in none was not tried.
    """

    run: str
    at: str = ""
    """When it began: a time, or only the day."""
    subject: str = ""
    """The model, or agent and model. What another subject did tells nothing about an action; empty: not known."""
    suite: str = ""
    failed: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    unmeasured: frozenset[str] = frozenset()


def effects(
    actions: Iterable[Action],
    now: RunOutcomes,
    before: Sequence[RunOutcomes],
    members: Mapping[str, Iterable[str]] | None = None,
) -> tuple[ActionResult, ...]:
    """What one run shows of each action. `members` has the cases of the buckets that actions may address."""
    return tuple(_effect(action, now, before, members or {}) for action in actions)


def newest_effect(
    action: Action, runs: Sequence[RunOutcomes], members: Mapping[str, Iterable[str]] | None = None
) -> ActionResult:
    """What the newest run that tells anything shows of an action; else what the newest run lacks."""
    newest_first = sorted(runs, key=lambda one: moment_of(one.at), reverse=True)
    found = [_effect(action, run, newest_first[at + 1 :], members or {}) for at, run in enumerate(newest_first)]
    telling = next((one for one in found if one.worked != "unknown"), None)
    nothing = ActionResult(action=action, worked="unknown", why="no run of the cases it addresses is known")
    return telling or next(iter(found), nothing)


def same_case(one: str, other: str) -> bool:
    """A report may leave out the suite, and more, of a case's key."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _effect(
    action: Action, now: RunOutcomes, before: Sequence[RunOutcomes], members: Mapping[str, Iterable[str]]
) -> ActionResult:
    cases = [case for address in action.addresses for case in members.get(address, (address,))]
    if not cases:
        return ActionResult(action=action, worked="unknown", why="it names no case", run=now.run)
    if order := _order(action, now):
        return ActionResult(action=action, worked="unknown", why=order, run=now.run)
    earlier = [one for one in before if _comparable(one, now) and _is_before(one, action)]
    earlier.sort(key=lambda one: moment_of(one.at), reverse=True)
    told = [(_case_effect(case, now, earlier), case) for case in dict.fromkeys(cases)]
    worked, why = _summed([(*one, _name(case, now)) for one, case in told])
    return ActionResult(action=action, worked=worked, why=why, run=now.run)


def _order(action: Action, now: RunOutcomes) -> str:
    """Why it can't be said that the action came before the run; empty where it did."""
    if not now.at:
        return "when the run began is not known"
    day, began = action.date[:DAY], now.at[:DAY]
    if day != began:
        return "" if day < began else _LATER
    done = _moment(action)
    if not (_is_exact(done) and _is_exact(now.at)):
        return _SAME_DAY
    if moment_of(done) <= moment_of(now.at):
        return ""
    # what was written down after the run began may have been done before
    return _LATER if done == action.date else _SAME_DAY


_LATER = "it was made after the run began"
_SAME_DAY = "it was made on the day of the run: which came first is not known"


def _is_before(run: RunOutcomes, action: Action) -> bool:
    day, began = action.date[:DAY], run.at[:DAY]
    if not began or day != began:
        return "" < began < day
    done = _moment(action)
    return _is_exact(done) and _is_exact(run.at) and moment_of(run.at) < moment_of(done)


def _moment(action: Action) -> str:
    return action.date if len(action.date) > DAY else action.at or ""


def _is_exact(at: str) -> bool:
    return len(at) > DAY and not is_local(at)


def _comparable(one: RunOutcomes, now: RunOutcomes) -> bool:
    return not one.subject or not now.subject or one.subject == now.subject


def _case_effect(case: str, now: RunOutcomes, earlier: Sequence[RunOutcomes]) -> tuple[Worked, str]:
    """`earlier` has the newest first."""
    failed, passed = _matching(case, now.failed), _matching(case, now.passed)
    if len(failed | passed) > 1:
        return "unknown", f"names {len(failed | passed)} cases of the run"
    if not failed and not passed:
        return "unknown", "not measured since"
    if failed and passed:
        return "unknown", "fails in one attempt and passes in another"
    last = next((one for one in earlier if _matching(case, one.failed) or _matching(case, one.passed)), None)
    if last is None:
        return "unknown", f"{'fails' if failed else 'passes'} now; no run of the same model before it is known"
    if not _matching(case, last.failed):
        return "unknown", f"{'fails' if failed else 'passes'} now, and passed before the action, too"
    return ("no", "fails again") if failed else ("yes", "passes now")


def _matching(case: str, known: frozenset[str]) -> set[str]:
    if case in known:
        return {case}
    return {one for one in _by_ending(known).get(_ending(case), ()) if same_case(case, one)}


@lru_cache(maxsize=256)
def _by_ending(known: frozenset[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in known:
        found.setdefault(_ending(one), []).append(one)
    return found


def _ending(case: str) -> str:
    return case.rpartition("/")[2]


def _summed(told: Sequence[tuple[Worked, str, str]]) -> tuple[Worked, str]:
    """One answer for all cases of an action: a case that still fails outweighs any that passes."""
    kinds = {worked for worked, _, _ in told}
    worked: Worked = "no" if "no" in kinds else "unknown" if "unknown" in kinds else "yes"
    deciding = [(why, name) for kind, why, name in told if kind == worked]
    by_why: dict[str, list[str]] = {}
    for why, name in deciding:
        by_why.setdefault(why, []).append(name)
    parts = [f"{_listed(names)} {_for_several(why, len(names))}" for why, names in by_why.items()]
    passing = sum(kind == "yes" for kind, _, _ in told)
    if worked != "yes" and passing:
        parts.append(f"{passing} of {len(told)} {'passes' if passing == 1 else 'pass'} now")
    return worked, "; ".join(parts)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _for_several(why: str, count: int) -> str:
    verb, _, rest = why.partition(" ")
    plain = {"fails": "fail", "passes": "pass", "names": "name"}.get(verb, verb) if count > 1 else verb
    return f"{plain} {rest}"


def _name(case: str, run: RunOutcomes) -> str:
    return case.removeprefix(f"{run.suite}/") if run.suite else case


def subject_of(run: Run) -> str:
    """What has to be the same for two runs to be compared: the model, its agent, the variant."""
    parts = (run.subject.model, run.subject.agent, *(f"{key}={value}" for key, value in sorted(run.variant.items())))
    return " ".join(part for part in parts if part)
