"""Which model is the predecessor of another, by the numbers in their names."""

import pytest

from errata.model import Attempt, Run, SourceInfo, Subject
from errata.runs.history import predecessor_of, version_of
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import run_by_id


def keep(store, model, *, experiment="default", started_at="2026-03-01T00:00:00Z"):
    run = Run(
        native_id=f"{model} {started_at}",
        source=SourceInfo(name="convex-evals"),
        suite="convex-evals",
        subject=Subject(model=model),
        variant={"experiment": experiment},
        started_at=started_at,
    )
    passed = Attempt(
        run=run.id, case="convex-evals/a/b", execution="completed", measurement="scored", outcome="pass", reported=1.0
    )
    with Importing(store) as importing:
        for batch in seal(pack_items([run, passed])):
            importing.add(batch)
        importing.finish()
    return run_by_id(store, run.id)


@pytest.mark.parametrize(
    ("model", "family", "version"),
    [
        ("acme/nimbus-2-coder", ("nimbus", "coder"), (2,)),
        ("acme/nimbus-2.1-coder", ("nimbus", "coder"), (2, 1)),
        ("acme/Nimbus-2-1-coder:free", ("nimbus", "coder"), (2, 1)),
        ("openai/o3", ("o",), (3,)),
        ("qwen/qwen2.5-72b", ("qwen", "72b"), (2, 5)),
        ("acme/nimbus-4-20260101", ("nimbus",), (4,)),
        ("acme/nimbus", ("nimbus",), ()),
    ],
)
def test_a_name_has_a_family_and_a_version(model, family, version):
    assert version_of(model)[1:] == (family, version)


def test_the_predecessor_is_the_newest_run_of_the_next_older_version(store):
    keep(store, "acme/nimbus-1-coder", started_at="2026-02-01T00:00:00Z")
    keep(store, "acme/nimbus-2-coder", started_at="2026-02-01T00:00:00Z")
    newest = keep(store, "acme/nimbus-2-coder", started_at="2026-02-09T00:00:00Z")
    keep(store, "acme/nimbus-4-coder")
    keep(store, "acme/drift-2-coder")

    assert predecessor_of(keep(store, "acme/nimbus-3-coder"), store) == newest


@pytest.mark.parametrize(
    "other", ["acme/nimbus-2-coder", "zeta/nimbus-2-coder", "acme/nimbus-coder", "acme/nimbus-3-coder"]
)
def test_another_setting_vendor_or_name_makes_no_predecessor(store, other):
    keep(store, other, experiment="no_guidelines" if other.startswith("acme/nimbus-2") else "default")

    assert predecessor_of(keep(store, "acme/nimbus-3-coder", started_at="2026-04-01T00:00:00Z"), store) is None
