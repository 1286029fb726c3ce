"""Full disks, lost write-ahead logs, clocks that jump, very long names: a sentence and exit code 2, or it works."""

import errno
import json
import os
import shutil
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from errata.cli.review import next_ as submit_command
from errata.errors import ReportError
from errata.render.files import replacing
from errata.store import sqlite
from reading import an_answer, submitted
from terminal import FIXTURES, done, errata, import_fixtures

RUN_A, RUN_B = (FIXTURES / "convex_evals" / name / "data" for name in ("run_a", "run_b"))
STORE = Path(".errata", "errata.db")
LONG = "n" * 3_000


@pytest.fixture
def long_names(at_home: Path) -> list[str]:
    """Two runs with names of 3,000 characters for everything; their ids."""
    run = "[run]\nid = { column = 'run' }\nmodel = { column = 'model' }\n"
    mapping = f'suite = "{LONG}"\n{run}[case]\nname = "id"\n[attempt]\npassed = "ok"\n'
    Path("map.toml").write_text(mapping, encoding="utf-8")
    for run in ("a", "b"):
        rows = [
            {"id": f"{case}-{LONG}", "run": f"{run}-{LONG}", "model": f"acme/{LONG}", "ok": case + run == "1a"}
            for case in "12"
        ]
        Path(f"{run}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done("import", "a.jsonl", "b.jsonl", "--map", "map.toml")
    return [row["run_id"] for row in done("runs", "--json").rows]


@pytest.mark.req("B-97")
def test_every_writer_takes_names_of_any_length(long_names):
    one, both = long_names[:1], long_names
    done("report", *one, "--html", "-o", "report")
    done("report", *one, "--profile", "batch", "-o", "batch")
    done("report", *both, "--profile", "comparison", "-o", "comparison")
    done("export", *both, "--to", "csv", "-o", "tables")
    done("issues", *one, "-o", "issues")
    done("review", "export", *one, "-o", "packets")
    done("compare", *both, "--csv", "matrix.csv")
    done("consistency", *both, "-o", "consistency")

    written = [path for path in Path().rglob("*") if path.is_file()]
    assert len(written) > 20
    assert not [path for path in written if path.name.endswith(".part")]


def test_no_terminal_command_of_a_log_is_in_a_table(at_home):
    Path("map.toml").write_text('[case]\nname = "id"\n[attempt]\npassed = "ok"\nanswer = "said"\n', encoding="utf-8")
    row = {"id": "a\x1b[31mb\x9b2J", "ok": False, "said": "red \x1b[31m, title \x1b]0;x\x07, bell \x07"}
    Path("log.jsonl").write_text(json.dumps(row), encoding="utf-8")
    done("import", "log.jsonl", "--map", "map.toml")
    done("review", "export", "latest", "--format", "csv", "-o", "review.csv")
    done("export", "latest", "--to", "csv", "-o", "tables")

    written = [path.read_text("utf-8") for path in (Path("review.csv"), *Path("tables").glob("*.csv"))]
    assert "title" in "".join(written)
    assert not [text for text in written if set("\x1b\x9b\x07") & set(text)]


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        (("export", "latest", "--to", "csv", "-o", "out"), "attempts.csv"),
        (("review", "export", "latest", "-o", "out"), "packets.jsonl"),
        (("report", "latest", "-o", "out"), ".md"),
    ],
)
def test_a_disk_that_fills_up_leaves_no_half_file_and_names_the_file(arguments, target, monkeypatch):
    import_fixtures(RUN_B)
    done("failures", "latest")

    def is_full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", is_full)
    result = errata(*arguments)

    assert result.code == 2
    assert "No space left on device" in result.talk
    assert target in result.talk
    assert not [path for path in Path("out").rglob("*") if path.is_file()]


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    (tmp_path / ".table.csv.999999999.part").write_text("half of it")
    with replacing(tmp_path / "table.csv") as unfinished:
        unfinished.write_text("all of it")

    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["table.csv"]


def test_an_error_while_writing_keeps_the_file_that_was_there(tmp_path):
    (tmp_path / "table.csv").write_text("before")
    with pytest.raises(ReportError, match="can't be written"), replacing(tmp_path / "table.csv") as unfinished:
        unfinished.write_text("half of it")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert (tmp_path / "table.csv").read_text() == "before"


def test_an_input_output_error_on_a_full_disk_is_a_full_disk(tmp_path, monkeypatch):
    failure = sqlite3.OperationalError("disk I/O error")
    assert "I/O error" in str(sqlite.explain(failure, tmp_path / "x.db"))
    monkeypatch.setattr(sqlite.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100, 100, 0))

    assert "No space is left" in str(sqlite.explain(failure, tmp_path / "x.db"))


@pytest.mark.parametrize("kind", ["lost", "of another store"])
def test_a_write_ahead_log_that_does_not_belong_here_is_never_a_bug(kind, tmp_path):
    import_fixtures(RUN_A)
    shutil.copy(STORE, tmp_path / "kept.db")
    with closing(sqlite3.connect(STORE)) as held:  # an open reader keeps SQLite from emptying the log
        held.execute("SELECT count(*) FROM runs").fetchone()
        done("import", RUN_B)
        log = Path(f"{STORE}-wal").read_bytes()
        shutil.copy(STORE if kind == "lost" else tmp_path / "kept.db", tmp_path / "copy.db")
    assert log
    if kind == "of another store":
        (tmp_path / "copy.db-wal").write_bytes(log[::-1])

    for command in ("runs", "doctor", "failures latest"):
        result = errata(*command.split(), "--store", tmp_path / "copy.db")
        assert result.code in (0, 1, 2), result
        assert "bug" not in result.err
    assert done("import", RUN_B, "--store", tmp_path / "copy.db").code == 0


def a_clock(shift: timedelta) -> type[datetime]:
    class Shifted(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + shift

    return Shifted


@pytest.mark.parametrize(("hours", "code"), [(-24 * 365, 0), (-1, 0), (24 * 365, 2)])
def test_a_clock_that_jumps_between_lease_and_submit(hours, code, monkeypatch):
    """Back: the lease still holds. Forward: it has expired, and the error says what to do."""
    import_fixtures(RUN_B)
    handed = done("review", "next", "latest", "--format", "json").row
    monkeypatch.setattr(submit_command, "datetime", a_clock(timedelta(hours=hours)))

    row = submitted(Path("verdict.json"), an_answer(handed))

    assert row.code == code, row
    assert code == 0 or "has expired" in row.talk


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_text_without_a_byte_order_mark_is_named_with_the_command_that_converts_it(encoding):
    name = encoding.upper().replace("-LE", "LE").replace("-BE", "BE")
    Path("log.jsonl").write_bytes('{"spec": 1}\n'.encode(encoding))

    row = errata("import", "log.jsonl")

    assert row.code == 2
    assert f"`log.jsonl` is {name} without a byte order mark" in row.talk
    assert f"`iconv -f {name} -t UTF-8`" in row.talk
