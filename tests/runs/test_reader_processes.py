"""Large logs are read by a second process: the same records come out, and every way it can end is told."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from errata.errors import SourceError
from errata.runs import importing, reader_processes
from errata.runs.importing import import_paths
from errata.runs.log_search import Order
from errata.store.database import open_store
from errata.store.packing import PackedBatch, RunPart, as_sent
from errata.store.runs import all_runs, unreadables_of
from terminal import FIXTURES, Said, errata

RUN_A = FIXTURES / "convex_evals" / "run_a" / "data" / "run-a"
COMPARISON = FIXTURES / "conversation_bench" / "comparison" / "data"
CASCADE = FIXTURES / "scylla" / "batch-cascade" / "data"
JSONL = FIXTURES / "generic" / "jsonl" / "data"
MAP = '[case]\nname = "id"\n[attempt]\npassed = "ok"\n'


@pytest.fixture
def in_parallel(monkeypatch):
    """Every log is large enough for a process of its own; which were started is told."""
    started = []
    real = subprocess.Popen

    def popen(command, **options):
        process = real(command, **options)
        if "errata.runs.reader_processes" in str(command):
            started.append(process)
        return process

    monkeypatch.setattr(reader_processes, "PARALLEL_FROM", 0)
    monkeypatch.setattr(reader_processes.subprocess, "Popen", popen)
    return started


def imported(path: Path, to: Path) -> dict[str, str]:
    store = open_store(to)
    import_paths([path], store)
    return {one.run.id: one.digest for one in all_runs(store)}


@pytest.mark.parametrize("path", [RUN_A, COMPARISON, CASCADE, JSONL], ids=lambda path: path.parent.name)
def test_the_same_records_come_out_as_in_one_process(tmp_path, path, monkeypatch, request):
    inline = imported(path, tmp_path / "inline.db")
    started = request.getfixturevalue("in_parallel")

    parallel = imported(path, tmp_path / "parallel.db")

    assert started
    assert inline == parallel


def test_a_mapping_reaches_the_reading_process(store, tmp_path, in_parallel):
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "ok": true}\n{"id": \n')
    (tmp_path / "map.toml").write_text(MAP)

    import_paths([Path("rows.jsonl")], store, map_path=Path("map.toml"))

    (stored,) = all_runs(store)
    assert len(in_parallel) == 1
    assert (stored.counts.outcomes, len(unreadables_of(store, stored.pk))) == ({"pass": 1}, 1)


def test_what_no_message_can_hold_is_no_reason_to_die(store, tmp_path, in_parallel):
    """A number of more than 64 bits in a run's own record, a folder whose name is not UTF-8."""
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/log-\xff"))
    folder.mkdir()
    run = {"native_id": "r", "source": {"name": "mine"}, "extra": {"big": 2**70}}
    (folder / "run.jsonl").write_text(json.dumps({"errata": 1, "kind": "run", "record": run}) + "\n{\n")

    import_paths([folder], store)

    (stored,) = all_runs(store)
    assert len(in_parallel) == 1
    assert stored.run.extra == {"big": str(2**70)}


def test_a_small_log_needs_no_process(store, monkeypatch, in_parallel):
    monkeypatch.setattr(reader_processes, "PARALLEL_FROM", 16 * 1024 * 1024)

    import_paths([RUN_A], store)

    assert in_parallel == []


def test_the_size_of_a_folder_is_that_of_its_files(tmp_path, monkeypatch, store, in_parallel):
    monkeypatch.setattr(reader_processes, "PARALLEL_FROM", 100_000)

    import_paths([RUN_A], store)

    assert len(in_parallel) == 1


def test_of_very_many_files_only_some_are_looked_at(tmp_path, monkeypatch):
    for number in range(95):
        (tmp_path / f"trial-{number}").mkdir()
        (tmp_path / f"trial-{number}" / "result.json").write_bytes(b"x" * 1000)

    assert reader_processes.size_of(tmp_path) == 95 * 1000
    monkeypatch.setattr(reader_processes, "MOST_FILES", 20)
    assert reader_processes.size_of(tmp_path) == 21 * 1000


def test_a_refusal_arrives_as_it_was_raised(store, tmp_path, in_parallel):
    copy = Path(shutil.copytree(RUN_A, tmp_path / "run"))
    shutil.rmtree(copy / "getEvalDebugInfo")
    (copy / "getEvalDebugInfo.first.envelope.json").unlink()
    for path in (copy / "storage").glob("*.zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("../outside", "x")

    with pytest.raises(SourceError, match="has a member that leaves the archive") as caught:
        import_paths([copy], store)

    assert "import the unpacked folder" in caught.value.hint
    assert all_runs(store) == []


def test_nothing_in_the_working_folder_is_run_as_code(store, tmp_path, in_parallel):
    for name in ("errata", "msgspec", "struct", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('owned')")

    import_paths([RUN_A], store)

    assert len(all_runs(store)) == 1


def children_of(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in listed.stdout.split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(holds) -> None:
    limit = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < limit, "waited too long"
        time.sleep(0.02)


IMPORT = """
import sys
from errata.cli.door import main
from errata.runs import reader_processes
reader_processes.PARALLEL_FROM = 0
main(["import", "rows.jsonl", "--map", "map.toml"])
"""


@pytest.fixture
def start_import(tmp_path):
    """Starts a program that imports a log; gives it and its first reading process. Without rows both wait."""
    started = []

    def start(rows: bytes | None = None) -> tuple[subprocess.Popen[str], int]:
        log = tmp_path / "rows.jsonl"
        os.mkfifo(log) if rows is None else log.write_bytes(rows)
        (tmp_path / "map.toml").write_text(MAP)
        command = subprocess.Popen(
            [sys.executable, "-c", IMPORT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
        )
        started.append(command.pid)
        wait_until(lambda: children_of(command.pid))
        reader, *others = sorted(children_of(command.pid))
        started.extend([reader, *others])
        return command, reader

    yield start
    for pid in started:
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)


def ended(command: subprocess.Popen[str]) -> Said:
    out, err = command.communicate(timeout=20)
    return Said(command.returncode, out, err)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
class TestEndings:
    def test_a_reading_process_that_dies_ends_the_import_with_2(self, start_import):
        command, reader = start_import()

        os.kill(reader, signal.SIGKILL)
        result = ended(command)

        assert result.code == 2
        assert "The process that was reading `rows.jsonl` ended early" in result.err
        assert errata("runs", "--json") == (0, "", "")

    def test_an_interrupt_ends_both_and_says_one_word(self, start_import):
        command, reader = start_import()

        os.killpg(command.pid, signal.SIGINT)
        result = ended(command)

        assert (result.code, result.out, result.err.strip()) == (130, "", "interrupted")
        wait_until(lambda: not is_alive(reader))

    def test_a_reading_process_goes_away_when_its_parent_was_killed(self, start_import):
        rows = b"".join(b'{"id": "%d", "ok": true}\n' % number for number in range(100_000))
        command, reader = start_import(rows)

        command.kill()
        command.wait()
        result = command.stderr.read()  # until the reader, which shares it, is gone as well
        for stream in (command.stdout, command.stderr):
            stream.close()

        wait_until(lambda: not is_alive(reader))
        assert result == ""
        assert errata("runs", "--json").rows == []


def test_a_process_that_ends_in_the_midst_of_a_batch_is_told(tmp_path, monkeypatch):
    """A frame that promises more than comes."""
    program = "import sys; sys.stdout.buffer.write(b'd' + (1000).to_bytes(4, 'big') + b'half')"
    real = subprocess.Popen
    monkeypatch.setattr(
        reader_processes.subprocess, "Popen", lambda command, **options: real([*command[:-1], program], **options)
    )
    monkeypatch.setattr(reader_processes, "PARALLEL_FROM", 0)

    with pytest.raises(SourceError, match="ended early"):
        list(importing.batches(Order(str(RUN_A), "convex-evals")))


def test_a_batch_that_is_not_wanted_ends_the_process(in_parallel):
    batches = importing.batches(Order(str(RUN_A), "convex-evals"))
    next(batches)
    batches.close()

    assert in_parallel[0].poll() is not None


def test_rows_with_numbers_over_64_bits_are_encoded():
    rows = RunPart(attempts=[(0, "case\ud800", 10**30)], tally={"\ud800": {}})
    part = PackedBatch(parts={"r": rows})

    (row,) = as_sent(part).parts["r"].attempts

    assert row == (0, "case?", 2**63 - 1)


def test_a_reading_process_starts_without_the_database():
    program = "import sys, errata.runs.reader_processes; print('sqlalchemy' in sys.modules)"

    started = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)

    assert started.stdout.strip() == "False"
