"""How runs are named for people."""

import shutil
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from errata.errors import NotFoundError
from errata.model import Subject
from errata.runs import names
from errata.runs.importing import import_paths
from errata.runs.names import handle_of, handles_among, handles_of, known_run, run_named, runs_named, short
from errata.store import runs as store_runs
from errata.store.runs import all_runs, names_of_runs
from errata.testing import a_run
from errata.verbs.store import run_by_id
from terminal import FIXTURES

RUN_B = FIXTURES / "convex_evals" / "run_b" / "data" / "run-b"
COMPARISON = FIXTURES / "conversation_bench" / "comparison" / "data"
BATCHES = [FIXTURES / "scylla" / name / "data" for name in ("batch-cascade", "large/batch-gen1")]


@pytest.mark.parametrize(
    ("native_id", "name"),
    [
        ("20260301T100000_voice-alpha_1a2b3c4d", "1a2b3c4d"),
        ("20260301T143000_acme_voice-gamma_3a4b5c6d", "3a4b5c6d"),
        ("jn7mqywbwe952an46zjcswtz9r7by5p7", "jn7mqywb"),
        ("batch-0214", "batch-0214"),
        ("my_run_12345678x", "my_run_12345678x"),
        ("1a2b3c4d", "1a2b3c4d"),
        ("", ""),
    ],
)
def test_a_long_name_has_a_short_form(native_id, name):
    assert short(native_id) == name


def test_a_run_is_called_by_its_short_name_where_that_is_unique(store):
    import_paths([RUN_B, COMPARISON], store)

    assert {handle_of(one, store) for one in all_runs(store)} == {
        "jn7mqywb",
        "1a2b3c4d",
        "5e6f7a8b",
        "9c0d1e2f",
        "3a4b5c6d",
    }


def test_runs_of_one_name_are_called_by_their_models(store):
    import_paths(BATCHES, store)
    runs = all_runs(store)

    assert sorted(handle_of(one, store) for one in runs) == ["haiku", "sonnet"]


def test_the_names_of_runs_alone_lead_to_the_same_handles(store):
    import_paths([*BATCHES, RUN_B, COMPARISON], store)
    known = names_of_runs(store)

    assert handles_among(known, known) == handles_of(all_runs(store))
    assert handles_among(known, known[:1]) == {known[0].id: handle_of(run_by_id(store, known[0].id), store)}


def test_runs_of_one_name_and_model_are_called_by_their_ids(store):
    import_paths([BATCHES[0]], store)
    (one,) = all_runs(store)
    twin = replace(one, run=replace(one.run, id="0123456789abcdef"))
    handles = handles_of([one, twin])

    assert one.run.id != twin.run.id
    assert all(run_id.startswith(handle) for run_id, handle in handles.items())


def test_every_handle_leads_back_to_its_run(store):
    import_paths([RUN_B, COMPARISON, *BATCHES], store)

    for one in all_runs(store):
        assert run_named(handle_of(one, store), store).run.id == one.run.id


MODELS = ("acme/nimbus-2", "latest")
NAMES = st.sampled_from(
    [
        "2025-11",
        "2025-11-05_a",
        "agent_2025-11-05",
        "agent_2025-11-06",
        "a_2025-11",
        "latest",
        "agent",
        "agent_1a2b3c4d",
    ]
)


@given(
    st.lists(
        st.builds(
            lambda name, other, title, model: a_run(
                native_id=name, external_id=other, name=title, subject=Subject(model=model)
            ),
            NAMES,
            NAMES | st.just(""),
            NAMES | st.just(""),
            NAMES | st.just("acme/nimbus-2"),
        ),
        max_size=5,
        unique_by=lambda run: run.id,
    )
)
def test_every_handle_is_unique_against_everything_that_names_a_run(runs):
    stored = [SimpleNamespace(run=run, pk=pk, imported_at="") for pk, run in enumerate(runs)]
    with pytest.MonkeyPatch.context() as patch:
        for module in (names, store_runs):
            patch.setattr(module, "all_runs", lambda _: stored)
        for run, handle in handles_of(stored).items():
            assert known_run(handle, None).run.id == run


def test_a_model_called_latest_does_not_name_its_run():
    """`latest` means the run that was imported last, whatever a model is called."""
    runs = [a_run(native_id="2025-11", external_id=f"x{n}", subject=Subject(model=m)) for n, m in enumerate(MODELS)]
    runs = [replace(run, id=f"{n}123456789abcdef") for n, run in enumerate(runs)]
    handles = handles_of([SimpleNamespace(run=run, pk=pk, imported_at="") for pk, run in enumerate(runs)])

    assert list(handles.values()) == ["acme/nimbus-2", "2025-11@latest"]


def test_a_path_of_several_runs_is_not_one(store):
    with pytest.raises(NotFoundError, match="holds 4 runs"):
        run_named(str(COMPARISON), store)


def test_a_run_that_is_meant_twice_comes_once(store):
    import_paths([RUN_B], store)
    (one,) = all_runs(store)

    assert [found.run.id for found in runs_named([one.run.id, "jn7mqywb", "latest", str(RUN_B)], store)] == [one.run.id]


def test_an_id_that_is_not_there_is_named(store):
    with pytest.raises(NotFoundError, match="No run has the id `0000`"):
        run_by_id(store, "0000")


def test_a_name_in_the_store_wins_over_another_folder_of_that_name_here(store, tmp_path, monkeypatch):
    log = tmp_path / "elsewhere" / "nightly"
    shutil.copytree(FIXTURES / "who_and_when" / "generated" / "data" / "Algorithm-Generated", log)
    import_paths([log], store)
    (stored,) = all_runs(store)
    here = tmp_path / "here"
    shutil.copytree(RUN_B, here / "nightly")
    monkeypatch.chdir(here)

    assert stored.run.native_id == "nightly"
    assert run_named("nightly", store).run.id == stored.run.id
    assert len(all_runs(store)) == 1
    assert run_named("./nightly", store).run.source.name == "convex-evals"
