"""What can't be imported is refused with exit 2 and a hint; nothing is half-imported, and nothing is lost."""

import shutil
import sqlite3
import zipfile
from pathlib import Path

import pytest

from errata.store import sqlite
from errata.store.schema import SCHEMA
from terminal import FIXTURES, Said, done, errata, import_fixtures

RUN_A = FIXTURES / "convex_evals" / "run_a" / "data" / "run-a"
RUN_D = FIXTURES / "convex_evals" / "run_d" / "data" / "run-d"
COMPARISON = FIXTURES / "conversation_bench" / "comparison" / "data" / "compare_20260301"
DAMAGED = FIXTURES / "conversation_bench" / "damaged" / "data" / "20260302T100000_voice-beta_0b1c2d3e"
BATCH = FIXTURES / "scylla" / "large" / "batch-gen1" / "data" / "batch-gen1"


@pytest.fixture(autouse=True)
def held(at_home):
    """A store that already holds a run must look the same after every refusal."""
    import_fixtures(RUN_D)
    before = done("show", "latest", "--json").out
    files = content_of(".errata")
    yield
    if content_of(".errata") == files:  # what is the same to the last byte needs no look at it
        return
    assert [row["revision"] for row in done("runs", "--json").rows] == [1]
    assert done("show", "latest", "--json").out == before
    assert errata("doctor", "--json").row["problems"] == []


def content_of(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def refused(*arguments: object) -> Said:
    result = errata(*arguments)
    assert result.code == 2, result
    assert result.out == ""
    assert result.err.startswith("error: ")
    assert "\nhint: " in result.err
    return result


def copied(path: Path, to: Path) -> Path:
    return Path(shutil.copytree(path, to / path.name))


def with_zip(to: Path, write) -> Path:
    """Run A without debug answers, so that the zips in its storage folder are opened; all of them are of one make."""
    copy = copied(RUN_A, to)
    shutil.rmtree(copy / "getEvalDebugInfo")
    (copy / "getEvalDebugInfo.first.envelope.json").unlink()
    for path in (copy / "storage").glob("*.zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            write(archive)
    return copy


@pytest.mark.parametrize("command", ["import", "analyze"])
@pytest.mark.req("J-05")
def test_a_missing_path_is_named(command):
    assert "No such file or folder: `nowhere/run.json`" in refused(command, "nowhere/run.json").err


def test_one_missing_path_among_good_ones_changes_nothing():
    refused("import", RUN_A, "nowhere")


def test_an_unknown_format_points_to_the_formats(tmp_path):
    (tmp_path / "notes.md").write_text("# notes\n")

    result = refused("import", "notes.md")

    assert "No source recognises `notes.md`" in result.err
    assert "`errata sources` lists the supported formats; describe your own with `--map`" in result.err


def test_a_benchmark_is_told_from_its_runs(tmp_path):
    copied(COMPARISON, tmp_path)

    result = refused("analyze", "compare_20260301/benchmarks")

    assert "hint: it contains `turns.json` and `tools.json` of a benchmark, not a finished run;\n" in result.err
    assert "      runs of this benchmark: `compare_20260301/runs/harbour_bench`\n" in result.err


@pytest.mark.req("J-05")
def test_a_comparison_without_its_list_of_runs_names_the_file(tmp_path):
    copy = copied(COMPARISON, tmp_path)
    (copy / "run_results.csv").unlink()
    shutil.rmtree(copy / "runs")

    assert "`run_results.csv`, which lists its runs, is missing" in refused("import", copy).err


@pytest.mark.req("J-05")
def test_a_conversation_without_rows_names_the_files(tmp_path):
    copy = copied(DAMAGED, tmp_path)
    for name in ("openai_judged.jsonl", "transcript.jsonl", "openai_summary.json"):
        (copy / name).unlink()

    result = refused("import", copy)

    assert "it has no `openai_judged.jsonl` and no `transcript.jsonl` with turns" in result.talk


@pytest.mark.req("S-01")
def test_a_batch_without_its_summary_is_not_finished(tmp_path):
    copy = tmp_path / "batch"
    shutil.copytree(BATCH / "thread_logs", copy / "thread_logs")

    assert "there are thread logs, but no `batch_summary.json`" in refused("import", copy).err


def test_a_hostile_archive_in_one_path_leaves_the_others_whole(tmp_path):
    """What was imported before the refusal is whole; the run with the archive is not there at all."""
    copy = with_zip(tmp_path, lambda archive: archive.writestr("../outside", "x"))

    refused("import", RUN_D, copy)


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b'{"run": {', b"null", b"\xff\xfe{\x00"])
def test_a_run_of_which_nothing_can_be_read_is_refused(tmp_path, content):
    copy = copied(RUN_D, tmp_path)
    for path in copy.rglob("*.json"):
        path.write_bytes(content)

    refused("import", copy)


def test_where_nothing_could_be_read_the_place_is_told():
    result = refused("import", FIXTURES / "convex_evals" / "errors" / "data")

    assert "Nothing could be read at" in result.err
    assert "bad_request_http_400.json: convex refused the request" in result.err
    assert "nothing was imported" in result.err


@pytest.mark.parametrize("command", [["runs"], ["import", RUN_D], ["doctor"], ["rm", "latest", "--yes"]])
def test_a_store_of_a_newer_errata_is_neither_read_nor_changed(tmp_path, command):
    store = tmp_path / "newer.db"
    import_fixtures(RUN_D, store=store)
    with sqlite3.connect(store) as database:
        database.execute("UPDATE alembic_version SET version_num = '0999'")
    database.close()
    before = store.read_bytes()

    result = refused(*command, "--store", store)

    assert f"was written by a newer errata: schema 999, this one knows {SCHEMA}" in result.talk
    assert "      nothing was read or changed\n" in result.err
    assert store.read_bytes() == before


def test_a_file_that_is_no_store_is_not_touched(tmp_path):
    (tmp_path / "notes.txt").write_text("my notes")

    assert "`notes.txt` is not a store of errata" in refused("import", RUN_A, "--store", "notes.txt").err
    assert (tmp_path / "notes.txt").read_text() == "my notes"


def test_a_database_of_another_program_is_not_used(tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("CREATE TABLE notes (text)")
    database.close()

    refused("import", RUN_A, "--store", "other.db")

    with sqlite3.connect(tmp_path / "other.db") as database:
        assert [name for (name,) in database.execute("SELECT name FROM sqlite_master")] == ["notes"]
    database.close()


def test_a_database_of_another_program_is_not_changed(tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("CREATE TABLE notes (text)")
    database.close()
    before = (tmp_path / "other.db").read_bytes()

    refused("import", RUN_A, "--store", "other.db")

    assert (tmp_path / "other.db").read_bytes() == before


@pytest.mark.parametrize("place", ["file/errata.db", "folder", "/proc/nowhere/errata.db"])
def test_a_store_where_none_can_be_is_refused(tmp_path, place):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()

    result = refused("import", RUN_A, "--store", place)

    assert "can't be opened" in result.err
    assert "`--store FILE`" in result.err


def test_a_full_disk_is_told_and_nothing_is_half_imported(monkeypatch):
    """The store may not grow by a single page."""

    def without_space(driver: sqlite3.Connection, record: object) -> None:
        on_connect(driver, record)
        pages = driver.execute("PRAGMA page_count").fetchone()[0]
        driver.execute(f"PRAGMA max_page_count = {pages}")

    on_connect = sqlite._on_connect
    with monkeypatch.context() as patch:
        patch.setattr(sqlite, "_on_connect", without_space)
        result = refused("import", BATCH)

    assert "No space is left on the disk of the store" in result.err
    assert "nothing was lost" in result.err


def test_a_store_on_a_server_of_another_kind_is_refused_without_its_password():
    result = refused("runs", "--store", "mysql://me:hunter22@db.example/errata")

    assert "stores runs in a SQLite file" in result.err
    assert "hunter22" not in result.err


def test_a_mapping_file_that_is_missing_is_named(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"id": 1}\n')

    assert "map.toml" in refused("import", "rows.jsonl", "--map", "map.toml").err


def test_a_mapping_for_a_path_that_is_missing_names_the_path(tmp_path):
    (tmp_path / "map.toml").write_text('[case]\nname = "id"\n')

    assert "No such file or folder: `rows.jsonl`" in refused("import", "rows.jsonl", "--map", "map.toml").err


def test_an_attempt_that_is_not_there_is_named():
    run_id = done("runs", "--json").row["run_id"]

    assert "has no attempt" in refused("show", f"{run_id}:convex-evals/nothing#1").err


def test_an_exclusion_without_a_reason_is_refused():
    assert "needs a reason" in refused("exclude", "latest").err


def test_a_folder_with_several_runs_is_not_one_run(tmp_path):
    result = errata("show", COMPARISON, "--store", tmp_path / "other.db")

    assert result.code == 2
    assert "holds 4 runs" in result.talk
    assert "20260301T130000_voice-beta_9c0d1e2f · voice-beta · id 01f18819d1decc9a" in result.err


def test_a_path_that_does_not_exist_is_answered_with_the_names_beside_it(tmp_path):
    (tmp_path / "promptfoo").mkdir()
    result = errata("analyze", tmp_path / "promptfo")

    assert f"did you mean `{tmp_path / 'promptfoo'}`?" in " ".join(result.err.split())
