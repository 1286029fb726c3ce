"""A store whose bytes are damaged, that can only be read, or that is a link; and a working folder that is gone."""

import errno
import gc
import os
import random
import shlex
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from errata.cli import door
from errata.cli import store as store_commands
from errata.store import sqlite
from terminal import FIXTURES, PROGRAM, done, errata, import_fixtures

RUN_B = FIXTURES / "convex_evals" / "run_b" / "data" / "run-b"
PAGE = sqlite.PAGE_SIZE
READING = (
    ("runs",),
    ("show", "latest"),
    ("failures", "latest"),
    ("score", "latest"),
    ("check", "latest"),
    ("buckets", "list", "latest"),
    ("review", "status", "latest"),
    ("report", "latest"),
    ("analyze", "latest"),
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a store with two analysed runs."""
    store = tmp_path_factory.mktemp("sound") / "errata.db"
    runs = [FIXTURES / "convex_evals" / name / "data" for name in ("run_a", "run_b")]
    import_fixtures(*runs, store=store)
    done("buckets", "list", "latest", "--store", store)
    with closing(sqlite3.connect(store)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return store.read_bytes()


def root_pages(content: bytes, folder: Path) -> dict[str, int]:
    (folder / "look.db").write_bytes(content)
    with closing(sqlite3.connect(folder / "look.db")) as database:
        return dict(database.execute("SELECT name, rootpage FROM sqlite_master WHERE rootpage").fetchall())


def damaged_by(content: bytes, seed: int) -> bytes:
    """One page overwritten, emptied, or with a few bytes changed; the first page keeps its header."""
    choice = random.Random(seed)
    page = choice.randrange(len(content) // PAGE)
    first, last = page * PAGE + (100 if page == 0 else 0), (page + 1) * PAGE
    damaged = bytearray(content)
    match seed % 3:
        case 0:
            damaged[first:last] = bytes(last - first)
        case 1:
            damaged[first:last] = choice.randbytes(last - first)
        case _:
            for _ in range(40):
                damaged[choice.randrange(first, last)] = choice.randrange(256)
    return bytes(damaged)


@pytest.mark.req("B-94")
@pytest.mark.parametrize("seed", range(12))
def test_no_damaged_page_is_called_a_bug(sound, seed, tmp_path):
    store = tmp_path / "errata.db"
    for command in (*READING[:6], ("doctor",)):
        store.write_bytes(damaged_by(sound, seed))
        for end in ("-wal", "-shm"):
            Path(f"{store}{end}").unlink(missing_ok=True)

        result = errata(*command, "--store", store)

        assert result.code in (0, 1, 2), result.err
        assert "bug" not in result.err
        if result.code == 2:
            assert "The store is damaged" in result.err
            assert "`errata doctor`" in result.err


def rebuilding(page: str) -> list[list[str]]:
    """The commands that doctor shows."""
    lines = page.replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("rebuild")]


@pytest.mark.parametrize("table", ["attempts", "runs", "cases", "attributions", "blocks", "verdicts"])
def test_doctor_names_what_a_lost_page_costs(sound, table, tmp_path):
    store = tmp_path / "errata.db"
    page = root_pages(sound, tmp_path)[table]
    store.write_bytes(sound[: (page - 1) * PAGE] + b"\xa5" * PAGE + sound[page * PAGE :])

    result = errata("doctor", "--store", store)

    assert result.code == 1
    assert "DAMAGED" in result.out
    if table in ("attempts", "cases", "blocks"):
        assert ["errata", "import", str(RUN_B), "--store", "new.db"] in rebuilding(result.out)
    if table == "verdicts":
        assert "verdicts: only 0 can be read; these are opinions, which no log brings back" in result.out
        assert "rebuild" not in result.out


def test_a_damaged_run_is_rebuilt_with_the_command_that_doctor_shows(sound, tmp_path):
    store = tmp_path / "errata.db"
    page = root_pages(sound, tmp_path)["attempts"]
    store.write_bytes(sound[: (page - 1) * PAGE] + bytes(PAGE) + sound[page * PAGE :])

    commands = rebuilding(errata("doctor", "--store", store).out)

    for words in commands:
        done(*words[1:])
    page = done("doctor", "--store", "new.db").out
    assert "holds     2 runs, 49 attempts\n" in page  # and one missing case
    assert page.endswith("no problems found\n")


@pytest.fixture
def read_only(tmp_path, monkeypatch):
    """A store that was only imported, so that every command has something to compute, without write permission."""
    folder = tmp_path / "shelf"
    import_fixtures(RUN_B, store=folder / "errata.db")
    store = folder / "errata.db"
    store.chmod(0o444)
    folder.chmod(0o555)
    if os.access(store, os.W_OK):  # nothing is forbidden to root
        monkeypatch.setattr(sqlite, "is_writable", lambda path: path != store)
    yield store
    folder.chmod(0o755)


@pytest.mark.req("B-95")
def test_every_reading_command_reads_a_read_only_store(read_only, tmp_path):
    writable = tmp_path / "writable.db"
    shutil.copy(read_only, writable)
    writable.chmod(0o644)
    before = read_only.read_bytes()

    for command in READING:
        result = errata(*command, "--store", read_only)
        shutil.rmtree("reports", ignore_errors=True)
        expected = errata(*command, "--store", writable)
        shutil.rmtree("reports", ignore_errors=True)
        assert (result.code, result.out) == (expected.code, expected.out), (command, result.err)

    assert errata("doctor", "--store", read_only).code == 0
    assert read_only.read_bytes() == before
    assert [path.name for path in read_only.parent.iterdir()] == ["errata.db"]


def test_the_private_copy_of_a_read_only_store_is_removed(read_only, tmp_path):
    done("failures", "latest", "--store", read_only)
    gc.collect()

    assert not list((tmp_path / "scratch").glob("errata-*/errata.db"))


@pytest.mark.parametrize(
    "command",
    [
        ("import", RUN_B),
        ("exclude", "latest", "--reason", "x"),
        ("rm", "latest", "--yes"),
        ("review", "next", "latest"),
    ],
)
def test_a_read_only_store_is_not_written(read_only, command):
    before = read_only.read_bytes()

    result = errata(*command, "--store", read_only)

    assert result.code == 2
    assert "it is read-only" in result.err
    assert read_only.read_bytes() == before


def test_a_read_only_store_includes_what_is_only_in_its_write_ahead_log(tmp_path, monkeypatch):
    folder = tmp_path / "shelf"
    import_fixtures(RUN_B, store="errata.db")
    with closing(sqlite3.connect("errata.db")) as database:
        database.execute("UPDATE runs SET native_id = native_id")
        database.commit()
        folder.mkdir()
        for end in ("", "-wal"):
            shutil.copy(f"errata.db{end}", folder)
    monkeypatch.setattr(sqlite, "is_writable", lambda path: path.parent != folder)

    assert len(done("runs", "--json", "--store", folder / "errata.db").rows) == 1


@pytest.mark.parametrize("linked", ["folder", "file", "log", "dangling"])
def test_a_linked_store_is_refused_and_its_target_is_not_touched(linked, tmp_path):
    target = tmp_path / "elsewhere"
    target.mkdir()
    if linked == "folder":
        Path(".errata").symlink_to(target)
    elif linked == "dangling":
        Path(".errata").symlink_to(tmp_path / "nowhere")
    else:
        Path(".errata").mkdir()
        (target / "errata.db").touch()
        Path(".errata", "errata.db" if linked == "file" else "errata.db-wal").symlink_to(target / "errata.db")

    result = errata("import", RUN_B)

    assert result.code == 2
    assert "is a link" in " ".join(result.err.split())
    assert not (tmp_path / "nowhere").exists()
    assert [path.stat().st_size for path in target.iterdir()] in ([], [0])


@pytest.mark.parametrize("command", ["runs", "analyze ."])
def test_a_removed_working_folder_is_a_sentence(tmp_path, command):
    script = f"mkdir gone && cd gone && rmdir ../gone && exec '{PROGRAM}' {command}"

    result = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert result.returncode == 2, result.stderr
    assert "The working folder does not exist any more" in result.stderr


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.ENAMETOOLONG, errno.EACCES])
def test_a_failure_of_the_disk_is_a_sentence(number, monkeypatch):
    def fails(_path: Path, **_: object) -> None:
        raise OSError(number, os.strerror(number), "report.md")

    monkeypatch.setattr(store_commands, "examine_store", fails)

    result = errata("doctor")

    assert result.code == door.USER
    assert f"{os.strerror(number)}: `report.md`" in result.err
