"""Folders that somebody else made: one sentence for what can't be read or leads elsewhere, and the rest of the work."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from terminal import FIXTURES, PROGRAM, errata, errata_program

LOG = FIXTURES / "deepeval" / "measures" / "data" / "test_run.json"
OTHER = FIXTURES / "convex_evals" / "run_d" / "data" / "run-d"

pytestmark = pytest.mark.req("X-12")


@pytest.fixture
def folder():
    made = Path("strange")
    made.mkdir()
    shutil.copy(LOG, made)
    return made


def test_a_folder_that_can_not_be_listed_costs_only_itself(folder, monkeypatch):
    (folder / "locked").mkdir()
    as_usual = os.scandir

    def refuse(path="."):
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return as_usual(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = errata("import", folder)

    assert (result.code, result.out.count("3 attempts")) == (0, 1)
    assert "locked: the folder can't be listed: Permission denied" in result.talk


def test_links_out_of_the_folder_are_named_and_not_read(folder):
    shutil.copytree(OTHER, "elsewhere")
    (folder / "run").symlink_to(Path("elsewhere").absolute())
    (folder / "more.json").symlink_to(LOG)

    result = errata("import", folder)

    assert (result.code, result.out.count("new ·")) == (0, 1)
    for name in ("run", "more.json"):
        assert f"{name}: a link out of the folder: import its target by itself" in result.talk


def test_links_to_a_content_store_are_read(folder):
    blob = Path("blobs") / ("0" * 40)
    blob.parent.mkdir()
    (folder / LOG.name).rename(blob)
    (folder / LOG.name).symlink_to(blob.absolute())

    assert "3 attempts" in errata("import", folder).out


def test_a_link_named_reports_does_not_lead_a_report_elsewhere(folder):
    Path("elsewhere").mkdir()
    Path("reports").symlink_to("/tmp")
    result = errata("analyze", folder)

    assert (result.code, "deepeval" in result.out) == (0, True)
    assert "no report: `reports` leads out of this folder; remove the link, or name the folder you mean" in result.talk
    assert errata("report", "latest").code == 2
    assert not Path("/tmp/acme").exists()


def test_a_link_named_skills_does_not_lead_a_skill_elsewhere(tmp_path):
    Path("project/.claude").mkdir(parents=True)
    Path("elsewhere").mkdir()
    os.chdir("project")
    Path(".claude/skills").symlink_to("../../elsewhere")
    result = errata("skill", "install")

    assert (result.code, "`.claude/skills` leads out of this folder" in result.talk) == (2, True)
    assert list(Path("../elsewhere").iterdir()) == []


def test_serving_a_database_that_does_not_answer_is_one_sentence():
    result = errata_program("serve", "--port", "0", "--store", "postgresql://u:p@127.0.0.1:1/x")

    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: No PostgreSQL server answers at this address")
    assert "Traceback" not in result.err


SMALL_DISK = """
mkdir disk && mount -t tmpfs -o size=3m tmpfs disk || exit 77
say() { text=$("$@" --store disk/s.db 2>&1); code=$?; echo $text "($code)"; }
say "$0" import "$1"
say "$0" import "$2"
ls disk
yes | head -c 3000000 > disk/other
for words in doctor runs "failures latest" "triage latest" "import $2"; do say "$0" $words; done
rm disk/other
say "$0" doctor
"""


def test_a_full_disk_stops_only_what_writes():
    ended = {"execution": "completed", "measurement": "scored", "outcome": "fail"}
    rows = [("run", {"native_id": "n", "source": {"name": "h"}, "suite": "s", "subject": {"model": "m"}})]
    for name in map(str, range(90)):
        rows.append(("case", {"suite": "s", "native_id": name, "input": "Which?"}))
        rows.append(("attempt", {"case": f"s/{name}", "output": {"text": os.urandom(40_000).hex()}, **ended}))
    lines = [json.dumps({"errata": 1, "kind": kind, "record": row}) for kind, row in rows]
    Path("large.jsonl").write_text("\n".join(lines), encoding="utf-8")
    unshared = ("unshare", "--map-root-user", "--mount", "sh", "-c", SMALL_DISK, PROGRAM, LOG, "large.jsonl")
    try:
        ended = subprocess.run(unshared, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("a small disk needs `unshare`")
    if ended.returncode in (1, 77) and not ended.stdout:
        pytest.skip(f"no small disk can be made: {ended.stderr}")
    made, stopped, files, *read, again, cleared = ended.stdout.splitlines()

    assert "3 attempts" in made
    for refused in (stopped, again):
        assert "error: No space is left on the disk of the store: `disk/s.db`" in refused
        assert refused.endswith("(2)")
    assert files == "s.db"  # and no log of it, which would take the rest of the disk
    for line in read:
        assert "No space is left on the disk of the store: it is read from a copy that is not kept" in line
        assert line.endswith("(0)")
    assert len(read) == 4
    assert "cleared 1 interrupted import" in cleared
