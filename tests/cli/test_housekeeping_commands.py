"""`rm`, `exclude`, `doctor`, `demo`, `sources`."""

import os
import pty
import sqlite3
import subprocess
from pathlib import Path

import pytest

from terminal import FIXTURES, PROGRAM, done, errata, import_fixtures

RUN_B = FIXTURES / "convex_evals" / "run_b" / "data" / "run-b"
RUN_D = FIXTURES / "convex_evals" / "run_d" / "data" / "run-d"
BATCH = FIXTURES / "scylla" / "large" / "batch-gen1" / "data" / "batch-gen1"
STORE = Path(".errata") / "errata.db"


def at_a_terminal(*arguments: str, answer: bytes = b"", **environment: str) -> tuple[int, str]:
    """A command whose stdin and stderr are a terminal; its exit code and what the terminal showed."""
    control, terminal = pty.openpty()
    command = subprocess.Popen(
        [PROGRAM, *arguments], stdin=terminal, stdout=subprocess.DEVNULL, stderr=terminal, env=os.environ | environment
    )
    os.close(terminal)
    os.write(control, answer)
    shown = b""
    try:
        while part := os.read(control, 4096):
            shown += part
    except OSError:  # the terminal is gone with the command
        pass
    os.close(control)
    return command.wait(), shown.decode()


def test_forgetting_frees_the_space():
    import_fixtures(RUN_D)
    small = STORE.stat().st_size
    import_fixtures(BATCH)
    large = STORE.stat().st_size
    done("rm", "batch-0214", "--yes")

    assert small <= STORE.stat().st_size < large


def test_forgetting_leaves_no_text_behind():
    import_fixtures(RUN_B)
    assert b"nimbus" in STORE.read_bytes()
    done("rm", "latest", "--yes")

    held = b"".join(path.read_bytes() for path in STORE.parent.iterdir())
    assert b"nimbus" not in held


def test_the_logs_are_not_touched_by_forgetting():
    before = {path: path.read_bytes() for path in RUN_B.rglob("*.json")}
    import_fixtures(RUN_B)
    done("rm", "latest", "--yes")

    assert {path: path.read_bytes() for path in RUN_B.rglob("*.json")} == before


def test_forgetting_asks_for_a_yes_where_nobody_can_answer(monkeypatch):
    import_fixtures(RUN_B)

    result = errata("rm", "latest")

    assert result.code == 2
    assert "asks before it removes jn7mqywb (acme/nimbus-2-coder)" in result.err
    assert len(done("runs", "--json").rows) == 1


@pytest.mark.parametrize(("answer", "left"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_forgetting_asks_and_does_as_it_is_told(answer, left):
    import_fixtures(RUN_B)

    code, shown = at_a_terminal("rm", "latest", answer=answer)

    assert code == 0
    assert "Remove jn7mqywb (acme/nimbus-2-coder)? [y/N]" in shown
    assert ("nothing was removed" in shown) == bool(left)
    assert len(done("runs", "--json").rows) == left


def test_no_color_is_respected():
    code, shown = at_a_terminal("show", "nothing", NO_COLOR="1")

    assert code == 2
    assert shown.startswith("error: ")


def test_an_excluded_run_is_kept_and_says_why():
    import_fixtures(RUN_B)

    done("exclude", "latest", "--reason", "wrong key")

    assert done("runs", "--json").row["excluded"]["reason"] == "wrong key"
    assert "excluded: wro" in done("runs").out
    for command in ("check", "analyze"):
        assert "EXCLUDED from every score: wrong key\n" in done(command, RUN_B).out
    assert "EXCLUDED" in done("show", "latest").out


def test_an_exclusion_survives_another_import(tmp_path):
    rows = tmp_path / "rows.jsonl"
    (tmp_path / "map.toml").write_text('[run]\nname = "mine"\n[case]\nname = "id"\n[attempt]\npassed = "ok"\n')
    rows.write_text('{"id": "a", "ok": true}\n')
    done("import", rows, "--map", "map.toml")
    done("exclude", "latest", "--reason", "too short")
    rows.write_text('{"id": "a", "ok": true}\n{"id": "b", "ok": false}\n')

    done("import", rows, "--map", "map.toml")

    row = done("runs", "--json").row
    assert (row["revision"], row["excluded"]["reason"]) == (2, "too short")


def test_an_exclusion_can_be_taken_back():
    import_fixtures(RUN_B)
    done("exclude", "latest", "--reason", "wrong key")

    assert "is included again" in done("exclude", "latest", "--undo").out
    assert done("runs", "--json").row["excluded"] is None
    assert "was not excluded" in done("exclude", "latest", "--undo").out


def test_a_missing_case_is_not_counted_as_an_attempt():
    """The log has 29 rows; 2 of the planned turns are not in it."""
    import_fixtures(FIXTURES / "conversation_bench" / "damaged" / "data")

    assert "holds     1 run, 29 attempts\n" in done("doctor").out
    assert [size["attempts"] for size in done("store", "size", "--json").row["runs"]] == [29]


def damage(store: Path) -> None:
    """Every page of the attempts is overwritten; the tables themselves can still be found."""
    with sqlite3.connect(store) as database:
        page_size = database.execute("PRAGMA page_size").fetchone()[0]
        pages = database.execute("SELECT rootpage FROM sqlite_master WHERE tbl_name = 'attempts'").fetchall()
    database.close()
    data = bytearray(store.read_bytes())
    for (page,) in pages:
        data[(page - 1) * page_size : page * page_size] = b"\xa5" * page_size
    store.write_bytes(data)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_damaged_store_ends_with_1_and_the_problem(options):
    import_fixtures(BATCH)
    damage(STORE)

    result = errata("doctor", *options)

    assert result.code == 1
    assert "DAMAGED" in result.out or result.row["problems"]


def test_what_dead_imports_left_behind_is_cleared():
    import_fixtures(RUN_B)
    dead = subprocess.Popen(["true"])
    dead.wait()
    with sqlite3.connect(STORE) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(runs)") if row[1] != "pk"]
        listed = ", ".join(columns)
        database.execute(f"INSERT INTO runs ({listed}) SELECT {listed} FROM runs")
        (importer,) = database.execute("SELECT importer FROM runs WHERE pk = 2").fetchone()
        importer = f"{importer.rpartition(':')[0]}:{dead.pid}"
        database.execute("UPDATE runs SET state = 'importing', importer = ? WHERE pk = 2", (importer,))
    database.close()

    assert len(done("runs", "--json").rows) == 1
    assert "cleared   1 interrupted import\n" in done("doctor").out
    assert "cleared" not in done("doctor").out


def test_the_demo_shows_an_analysis_and_leaves_nothing_behind(tmp_path):
    result = done("demo")

    assert "Run jn7mqywb · acme/nimbus-2-coder" in result.out
    assert [path.name for path in tmp_path.rglob("*")] == ["scratch"]
