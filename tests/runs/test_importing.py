"""Files of one run, named one by one: no row is lost, whichever way they are named."""

import shutil
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import event

from errata import sources
from errata.errors import SourceError
from errata.runs.importing import import_paths
from errata.runs.triaging import triage_imported
from errata.store.database import Store
from errata.store.runs import all_runs
from terminal import FIXTURES, done

PARTED = {
    "who_and_when": FIXTURES / "who_and_when" / "generated" / "data" / "Algorithm-Generated",
    "trajectories": FIXTURES / "swe_bench" / "mini_swe_agent" / "data" / "attempt",
    "allure": FIXTURES / "allure" / "pytest" / "data" / "allure-results",
    "convex answers": FIXTURES / "convex_evals" / "run_c" / "data" / "run-c" / "getEvalDebugInfo",
    "mlflow": FIXTURES / "mlflow" / "evaluate" / "data",
}
of_several_files = pytest.mark.parametrize("folder", PARTED.values(), ids=PARTED)


def told(store: Store) -> dict[str, int]:
    """Run → how many attempts it has."""
    return {one.run.id: one.counts.attempts for one in all_runs(store)}


@of_several_files
def test_all_files_of_a_folder_are_the_folder(folder, store):
    import_paths(sorted(folder.iterdir()), store)
    one_by_one = told(store)
    (again,) = import_paths([folder], store)

    assert [run.change for run in again.runs] == ["unchanged"]
    assert told(store) == one_by_one


@pytest.mark.parametrize("name", ["who_and_when", "trajectories", "allure", "convex answers"])
def test_a_file_that_is_named_later_takes_nothing_from_the_whole(name, store):
    import_paths([PARTED[name]], store)
    whole = told(store)
    import_paths([sorted(PARTED[name].iterdir())[-1]], store)

    assert whole.items() <= told(store).items()


@pytest.mark.parametrize("name", ["who_and_when", "trajectories"])
def test_files_that_are_named_one_after_the_other_keep_their_attempts(name, store):
    files = sorted(PARTED[name].iterdir())
    for file in files:
        import_paths([file], store)

    assert list(told(store).values()) == [1] * len(files)


def test_some_files_of_a_folder_are_runs_of_their_own(store):
    files = sorted(PARTED["who_and_when"].iterdir())[:2]
    import_paths(files, store)

    assert {one.run.native_id for one in all_runs(store)} == {f"Algorithm-Generated.{file.stem}" for file in files}


def test_predictions_and_reviews_of_one_run_do_not_replace_each_other(store):
    root = FIXTURES / "evalscope" / "repeats" / "data" / "20261115_192751"
    for part in ("predictions", "reviews"):
        import_paths([root / part / "mock-model" / "general_mcq_default.jsonl"], store)

    assert list(told(store).values()) == [4, 4]


def test_what_no_source_reads_alone_is_a_part_of_the_folder_that_is_named_file_by_file(tmp_path, store):
    folder = Path(shutil.copytree(PARTED["who_and_when"], tmp_path / "set"))
    (folder / "NOTES.md").write_text("about the set")
    (summary,) = import_paths(sorted(folder.iterdir()), store)

    assert summary.path == str(folder)


def test_a_file_that_is_not_there_is_told_also_where_the_others_are_all_of_a_folder(tmp_path, store):
    folder = Path(shutil.copytree(PARTED["who_and_when"], tmp_path / "set"))
    with pytest.raises(SourceError, match=r"No such file"):
        import_paths([*sorted(folder.iterdir()), folder / "typo.json"], store)


def test_what_is_passed_over_is_said():
    ragas = FIXTURES / "ragas" / "lines" / "data"

    assert "skipped: " in done("import", ragas).talk
    assert "result.csv (same evaluation as result.jsonl" in done("import", ragas).talk
    assert done("import", ragas, "--json").row["passed_over"] == [str(ragas / "result.csv")]


def write_reports(folder: Path, count: int) -> Path:
    """One report with one failed test each."""
    folder.mkdir()
    for number in range(count):
        test = f'<testcase classname="t" name="n{number}"><failure message="no"/></testcase>'
        report = f'<testsuite name="suite" tests="1">{test}</testsuite>'
        (folder / f"TEST-{number:04}.xml").write_text(report, encoding="utf-8")
    return folder


def note_statements(store: Store, statements: list[object], patched: pytest.MonkeyPatch) -> None:
    """Those of the driver itself, too; one that is repeated for many rows counts for each."""
    if isinstance(store.path, Path):
        listener = event.listens_for(store.engine, "connect")
        listener(lambda driver, _: driver.set_trace_callback(statements.append))
        for kept in store._kept or ():
            kept.connection.driver_connection.set_trace_callback(statements.append)
        return

    def noted(method):
        def call(cursor, statement, *rest, **options):
            often = len(rest[0]) if method.__name__ == "executemany" else 1
            statements.extend([statement] * often)
            return method(cursor, statement, *rest, **options)

        return call

    for kind, name in ((psycopg.Cursor, "execute"), (psycopg.Cursor, "executemany"), (psycopg.Cursor, "copy"),
                       (psycopg.ServerCursor, "execute")):  # fmt: skip
        patched.setattr(kind, name, noted(getattr(kind, name)))


def statements_of_import(folder: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Statements in the store, and questions to sources whether a file is theirs."""
    statements, questions = [], []
    with monkeypatch.context() as patched:
        note_statements(store, statements, patched)
        for source in sources.all_sources().values():
            patched.setattr(source, "recognise", counted(source.recognise, questions))
        summaries = import_paths([folder], store)
        triage_imported(summaries, store)
    return len(statements), len(questions)


def counted(recognise, calls):
    def ask(path):
        calls.append(path)
        return recognise(path)

    return ask


def test_a_folder_of_small_files_is_linear_in_statements_and_questions(tmp_path, store, monkeypatch):
    few = statements_of_import(write_reports(tmp_path / "few", 20), store, monkeypatch)
    more = statements_of_import(write_reports(tmp_path / "more", 60), store, monkeypatch)

    assert len(all_runs(store)) == 60  # the first 20 are the same
    assert more[1] - few[1] == 40
    assert few[0] > 20
    assert more[0] < 4 * few[0]
