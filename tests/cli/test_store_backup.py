"""`errata store backup`, `restore` and `copy` as a user meets them."""

import shutil
import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from errata.store import copying
from errata.store.database import open_store
from errata.store.schema import SCHEMA
from errata.verbs import store_maintenance
from terminal import FIXTURES, done, errata, import_fixtures

RUN_A, RUN_B, RUN_C = (FIXTURES / "convex_evals" / f"run_{name}" / "data" for name in "abc")
STORE = Path(".errata") / "errata.db"


def names() -> set[str]:
    return {one["run"] for one in done("runs", "--json").rows}


def exported(store: object, folder: str) -> dict[str, bytes]:
    done("export", "jn7mqywb", "--to", "csv", "-o", folder, "--store", store)
    return {path.name: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def test_a_backup_brings_back_a_removed_run(own_two_runs):
    before = names()
    done("store", "backup", "saved.db")
    done("rm", "jn7mqywb", "--yes")

    page = done("store", "restore", "saved.db", "--force")

    assert names() == before
    assert "restored .errata/errata.db · 2 runs from saved.db" in page.out
    assert done("doctor").out.endswith("no problems found\n")


def test_a_restore_can_be_undone_with_the_command_that_it_shows(own_two_runs):
    done("store", "backup", "saved.db")
    done("rm", "jn7mqywb", "--yes")

    aside = done("store", "restore", "saved.db", "--force", "--json").row["put_aside"]
    done("store", "restore", aside, "--force")

    assert len(names()) == 1


def test_restores_within_one_second_keep_every_store_that_they_replace(own_two_runs):
    now = datetime(2026, 3, 10, 8, tzinfo=UTC)
    done("store", "backup", "saved.db")
    done("rm", "jn7mqywb", "--yes")

    first, second = (
        store_maintenance.restore_store(Path("saved.db"), own_two_runs, force=True, now=now).put_aside for _ in range(2)
    )

    assert [len(done("runs", "--json", "--store", aside).rows) for aside in (first, second)] == [1, 2]


def test_what_a_killed_restore_left_does_not_change_with_the_store(own_two_runs):
    done("store", "backup", "saved.db")
    killed = own_two_runs.with_name(f"{own_two_runs.name}.before-restore-20260310T080000Z")
    killed.hardlink_to(own_two_runs)

    aside = Path(done("store", "restore", "saved.db", "--force", "--json").row["put_aside"])

    assert not killed.exists()
    assert [path.name for path in own_two_runs.parent.glob("*.before-restore-*")] == [aside.name]


def test_a_store_with_runs_is_not_replaced_unasked(own_two_runs):
    done("store", "backup", "saved.db")
    before = own_two_runs.read_bytes()

    result = errata("store", "restore", "saved.db")

    assert result.code == 2
    assert "The store holds 2 runs" in result.talk
    assert "--force" in result.talk
    assert own_two_runs.read_bytes() == before


def test_a_backup_is_restored_where_there_is_no_store(own_two_runs):
    done("store", "backup", "saved.db")
    shutil.rmtree(".errata")

    restored = done("store", "restore", "saved.db", "--json").row

    assert (restored["runs"], restored["put_aside"]) == (2, None)
    assert len(names()) == 2


def test_a_store_that_another_process_has_open_is_not_replaced(own_two_runs):
    done("store", "backup", "saved.db")
    with closing(sqlite3.connect(own_two_runs)) as other:
        other.execute("SELECT count(*) FROM runs").fetchone()

        result = errata("store", "restore", "saved.db", "--force")

    assert result.code == 2
    assert "Another process has the store open" in result.talk
    assert sorted(path.name for path in STORE.parent.glob("*before*")) == []


def test_a_damaged_backup_is_not_restored(own_two_runs):
    done("store", "backup", "saved.db")
    with closing(sqlite3.connect("saved.db")) as database, database:
        database.execute("UPDATE blocks SET data = zeroblob(100)")
    before = names()

    result = errata("store", "restore", "saved.db", "--force")

    assert result.code == 2
    assert "The backup is damaged" in result.talk
    assert names() == before


def test_a_backup_of_a_newer_errata_is_not_restored(own_two_runs):
    done("store", "backup", "saved.db")
    with closing(sqlite3.connect("saved.db")) as database, database:
        database.execute(f"UPDATE alembic_version SET version_num = '{SCHEMA + 1:04d}'")

    result = errata("store", "restore", "saved.db", "--force")

    assert result.code == 2
    assert "was written by a newer errata" in result.talk
    assert len(names()) == 2


def test_a_damaged_store_is_put_aside_and_replaced(own_two_runs):
    done("store", "backup", "saved.db")
    content = own_two_runs.read_bytes()
    own_two_runs.write_bytes(content[:20_000] + bytes(60_000) + content[80_000:])

    restored = done("store", "restore", "saved.db", "--force", "--json").row

    assert Path(restored["put_aside"]).stat().st_size == len(content)
    assert done("doctor").out.endswith("no problems found\n")


def test_a_backup_has_the_state_of_one_moment_while_others_write(own_two_runs):
    """Another process imports and excludes all the time; the backup still equals its own snapshot."""
    store = open_store(own_two_runs)
    stop = threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(own_two_runs, timeout=60)) as other:
            number = 0
            while not stop.is_set():
                number += 1
                with other:
                    other.execute("INSERT INTO actions VALUES (?, '2026-01-01', zeroblob(20000))", (f"noise-{number}",))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        saved = [
            store_maintenance.backup_store(store, Path(f"saved-{number}.db"), now=datetime.now(UTC))
            for number in range(3)
        ]
    finally:
        stop.set()
        writer.join()

    written = [next(one.rows for one in backup.tables if one.table == "actions") for backup in saved]
    assert written == sorted(written)
    for backup, actions in zip(saved, written, strict=True):
        with closing(sqlite3.connect(backup.file)) as database:
            assert database.execute("SELECT count(*) FROM actions").fetchone() == (actions,)


def test_a_backup_in_a_folder_gets_a_name_with_the_time(own_two_runs):
    Path("saved").mkdir()

    file = Path(done("store", "backup", "saved", "--json").row["file"])

    assert file.parent == Path("saved")
    assert file.name.startswith("errata-2")


def test_a_backup_replaces_no_file(own_two_runs):
    Path("saved.db").write_text("mine")

    result = errata("store", "backup", "saved.db")

    assert result.code == 2
    assert "already exists" in result.talk
    assert Path("saved.db").read_text() == "mine"


def test_a_backup_that_differs_is_discarded(own_two_runs, monkeypatch):
    monkeypatch.setattr(copying, "copy_rows", _without_checks(copying.copy_rows))

    result = errata("store", "backup", "saved.db")

    assert result.code == 2
    assert "`checks` differs from the store" in result.talk
    assert not list(Path().glob("*saved*"))


def test_a_copied_store_gives_the_same_export(own_two_runs):
    page = done("store", "copy", STORE, "copy.db").out

    assert "equal: " in page
    assert exported("copy.db", "new") == exported(STORE, "old")


def test_a_copy_into_a_store_with_runs_is_refused(own_two_runs):
    import_fixtures(RUN_C, store="other.db")

    result = errata("store", "copy", STORE, "other.db")

    assert result.code == 2
    assert "a copy needs an empty place" in result.talk


def test_a_copy_that_differs_exits_with_1(own_two_runs, monkeypatch):
    monkeypatch.setattr(copying, "copy_rows", _without_checks(copying.copy_rows))

    result = errata("store", "copy", STORE, "copy.db")

    assert result.code == 1
    assert "DIFFERENT: checks. The copy was discarded." in result.out
    assert not Path("copy.db").exists()


def _without_checks(whole):
    def copy(reader, writer, table, on_rows):
        digest = whole(reader, writer, table, on_rows)
        if table.name == "checks" and writer is not None:
            writer.execute(table.delete())
        return digest

    return copy


@pytest.mark.parametrize("command", [("copy", "nowhere.db", "copy.db"), ("restore", "nowhere.db")])
def test_a_missing_file_is_a_sentence_and_is_not_created(command):
    result = errata("store", *command)

    assert result.code == 2
    assert "There is no store at `nowhere.db`" in result.talk
    assert not Path("nowhere.db").exists()


def test_a_file_of_another_program_is_not_a_backup():
    Path("notes.txt").write_text("not a store")

    assert "is not a store of errata" in errata("store", "restore", "notes.txt").talk
