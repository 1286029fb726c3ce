"""Failures that differ only in the reason of their one check are grouped as one by one."""

from errata.buckets.failure import with_reason
from errata.runs import failures_to_group
from errata.runs.view import RunView
from errata.store.brief_failures import BriefFailures
from one_check_runs import stored_runs


def is_never_plain(_attempt):
    return False


def test_each_failure_is_the_same_as_one_by_one(store, monkeypatch):
    runs, shared = stored_runs(store), []
    monkeypatch.setattr(failures_to_group, "WITH_LOGS", 0)
    monkeypatch.setattr(
        failures_to_group, "with_reason", lambda *given: shared.append(with_reason(*given)) or shared[-1]
    )

    def collected():
        for run in runs:
            view = RunView(run, store)
            view.ensure_triaged()
            yield list(failures_to_group.failures_to_group(view))

    together = list(collected())
    monkeypatch.setattr(failures_to_group, "BriefFailures", lambda _: BriefFailures(is_never_plain))

    assert together == list(collected())
    assert len(shared) > 50
