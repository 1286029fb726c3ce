"""Which run a gate compares with: a named one, the newest of a branch, or the newest whose own gate passed."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import NamedTuple

import msgspec

from errata.errors import NotFoundError, did_you_mean
from errata.model import StoredRun
from errata.model.gate import CodeRef
from errata.model.run import why_excluded
from errata.model.times import moment_of
from errata.runs.names import run_named
from errata.store.database import Store
from errata.store.runs import code_refs_of, gates_of
from errata.store.same_work import beside

LATEST_GREEN = "latest-green"
BRANCH = "branch:"


class Baseline(msgspec.Struct, frozen=True):
    run: StoredRun | None
    why_none: str = ""


def baseline_for(stored: StoredRun, selector: str, store: Store) -> Baseline:
    """`latest-green` and `branch:NAME` mean a run of the same suite, model, agent and variant that is not newer."""
    if selector == LATEST_GREEN:
        green = {run_id for run_id, gate in gates_of(store).items() if gate.verdict == "passed"}
        run = next((one for one in comparable_runs(stored, store) if one.run.id in green), None)
        return Baseline(run, "" if run else "No earlier run of this suite and subject has passed a gate")
    if selector.startswith(BRANCH):
        return _of_branch(stored, selector.removeprefix(BRANCH), store)
    run = run_named(selector, store)
    if run.run.id == stored.run.id:
        raise NotFoundError(
            f"RUN and `--baseline {selector}` are the same run",
            hint=f"name another run, `{LATEST_GREEN}` or `{BRANCH}NAME`",
        )
    return Baseline(run)


def _of_branch(stored: StoredRun, branch: str, store: Store) -> Baseline:
    refs = code_refs_of(store)
    on_branch = {run_id for run_id, ref in refs.items() if ref.branch == branch}
    if not on_branch:
        known = sorted({ref.branch for ref in refs.values() if ref.branch})
        named = did_you_mean(branch, known) or (f"known are: {', '.join(known[:10])}" if known else "")
        return Baseline(None, f"No run in the store is from branch `{branch}`" + (f"; {named}" if named else ""))
    run = next((one for one in comparable_runs(stored, store) if one.run.id in on_branch), None)
    return Baseline(run, "" if run else f"No earlier run of this suite and subject is from branch `{branch}`")


def comparable_runs(stored: StoredRun, store: Store) -> Iterator[StoredRun]:
    """Other runs of the same suite and subject that are not newer, the newest first."""
    then = _moment(stored)
    for other in beside(stored, store):
        is_other = other.run.id != stored.run.id and why_excluded(other.run) is None
        if is_other and _subject(other) == _subject(stored) and _moment(other) <= then:
            yield other


class Repeats(NamedTuple):
    """Runs with equivalent attempts, the newest first."""

    runs: tuple[StoredRun, ...]
    is_one_commit: bool
    """Whether they are known to have tested the same code; else it may have changed between them."""


def repeats_of(stored: StoredRun, store: Store, *, without: str, most: int, known_commit: bool = False) -> Repeats:
    """The run and earlier ones of the same subject, version and commit.

    With `known_commit` the run alone where its commit is unknown.
    """
    refs = code_refs_of(store)
    commit = _commit(stored, refs)
    if known_commit and not commit:
        return Repeats((stored,), False)
    others = (
        other
        for other in comparable_runs(stored, store)
        if other.run.id != without
        and other.run.subject.agent_version == stored.run.subject.agent_version
        and _commit(other, refs) == commit
    )
    return Repeats((stored, *islice(others, most)), bool(commit))


def _commit(stored: StoredRun, refs: dict[str, CodeRef]) -> str:
    ref = refs.get(stored.run.id)
    if ref is not None and ref.commit:
        return ref.commit
    return stored.run.code.commit if stored.run.code is not None else ""


def _subject(stored: StoredRun) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    """Without the agent's version: that is what a gate tests. An unknown model is the same as an unknown one."""
    run = stored.run
    return run.subject.model, run.subject.agent, tuple(sorted(run.conditions.items()))


def _moment(stored: StoredRun) -> datetime:
    return moment_of(stored.run.started_at or stored.imported_at)
