"""Every command with `--json`, run for real over one store of samples: what tests and `make docs` go by."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import stub_inspect
from reading import an_answer, program
from terminal import FIXTURES, errata

sys.path.insert(0, str(Path(__file__).parent / "fetch"))
from deployment import Deployment

CONVEX = FIXTURES / "convex_evals"
SAMPLES = (
    CONVEX / "run_a/data",
    CONVEX / "run_b/data",
    CONVEX / "run_d/data",
    FIXTURES / "conversation_bench/comparison/data",
    FIXTURES / "scylla/batch-gen2/data",
    FIXTURES / "scylla/batch-cascade/data",
    FIXTURES / "harbor/demo-job/data",
    FIXTURES / "inspect_ai/mixed_json/data",
)
RUN_A, RUN_B, RUN_D = "jn709tmj", "jn7mqywb", "jn7maewn"
FETCHED = "jn709tmjsmt0gc4p4ysp6m6ztabx3hw2"
REPORTS = FIXTURES.parent / "actions" / "reports"
VERDICTS = FIXTURES.parent / "golden_verdicts" / "run-b.jsonl"
SHAPE, GREETING = "002-queries/006-pagination_shape", "000-fundamentals/002-http_greeting"
EMPTY = "empty provider response"
MODELS = """
[models.smollm2]
provider = "local"
base_url = "http://127.0.0.1:9/v1"
schedule = "weekly"
settings = { temperature = 0 }
[suites.arithmetic]
task = "arithmetic.py"
"""
TURNS = ("3a4b5c6d", "9c0d1e2f")

Rows = list[Any]
Step = Callable[[], Iterable[tuple[str, Rows]]]


def rows(*arguments: object) -> Rows:
    """What a command prints with `--json`; exit code 1 is a finding, 2 a refused answer."""
    done = errata(*arguments, "--json")
    assert done.code in (0, 1) or (done.code == 2 and done.out), (arguments, done)
    assert done.out, (arguments, done)
    return done.rows


def all_examples() -> Iterator[tuple[str, Rows]]:
    """Command line as in `SHAPES` → what it printed. Runs in the working folder, and leaves a store there."""
    for step in STEPS:
        yield from step()


def about_runs() -> Iterator[tuple[str, Rows]]:
    shutil.copytree(REPORTS, "reports")
    yield "import", rows("import", *SAMPLES)
    yield "runs", rows("runs")
    yield "check", rows("check", RUN_B, *TURNS, "batch-cascade")
    yield "triage", rows("triage")
    yield "score", rows("score", RUN_B, *TURNS)
    yield "score --pooled", rows("score", RUN_A, RUN_B, "--pooled")
    yield "sessions", rows("sessions", "batch-cascade", "batch-gen2")
    yield "rerun", rows("rerun", RUN_B, "batch-cascade", TURNS[0])
    yield "analyze", rows("analyze", *SAMPLES, "--no-report")
    yield "demo", rows("demo")


def about_failures() -> Iterator[tuple[str, Rows]]:
    yield "failures", rows("failures", RUN_B, *TURNS, "batch-cascade")
    yield "failures --suspicious", rows("failures", *(one["run_id"] for one in rows("runs")), "--suspicious")
    yield "failures --like", [*rows("failures", "--like", f"{RUN_B}/{GREETING}"), *rows("failures", "--like", EMPTY)]
    yield "show", rows("show", RUN_B)
    yield "show", [row for one in rows("failures", RUN_B, TURNS[1]) for row in rows("show", one["attempt_id"])]
    yield "show --packet", rows("show", f"{RUN_B}/{SHAPE}", "--packet")


def about_several_runs() -> Iterator[tuple[str, Rows]]:
    yield "compare", rows("compare", RUN_A, RUN_B)
    yield "gate", rows("gate", RUN_B, "--baseline", RUN_A)
    yield "compare --write", rows("compare", *TURNS, "--write", "comparison")
    rows("exclude", RUN_A, "--reason", "the provider was down")
    found = rows("consistency", RUN_A, RUN_B)
    rows("exclude", RUN_A, "--undo")
    yield "consistency", [one for one in found if "left_out" not in one]
    yield "consistency, a run that is left out", [one for one in found if "left_out" in one]
    yield "consistency --judges", rows("consistency", TURNS[0], "--judges")
    yield "consistency -o, a file", [one for one in rows("consistency", *TURNS, "-o", "study") if "file" in one]


def about_review() -> Iterator[tuple[str, Rows]]:
    yield "review run --dry-run", rows("review", "run", RUN_A, "--command", program(), "--dry-run")
    yield "review run", rows("review", "run", RUN_A, "--command", program(), "--yes")[-1:]
    batch = ("--batch", "--base-url", "http://127.0.0.1:9/v1", "--model", "m")  # nothing is open, so nobody is asked
    yield "review run --cancel", rows("review", "run", RUN_A, *batch, "--cancel")
    packet = rows("review", "next", f"{RUN_B}/{SHAPE}", "--reviewer", "ada")
    yield "review next", packet
    Path("answer.json").write_text(json.dumps(an_answer(packet[0])), encoding="utf-8")
    Path("bad.json").write_text(json.dumps(an_answer(packet[0], label="NO_SUCH")), encoding="utf-8")
    yield "review submit (rejected)", rows("review", "submit", "bad.json", "--reviewer", "ada")
    yield "review submit", rows("review", "submit", "answer.json", "--reviewer", "ada")
    yield "review release", rows("review", "release", RUN_B, "--reviewer", "ada")
    yield "review import", rows("review", "import", VERDICTS, "--reviewer", "reader")
    Path("refused.jsonl").write_text(json.dumps({"attempt_id": packet[0]["packet"]["attempt_id"], "label": "NO_SUCH"}))
    yield "review import (refused row)", rows("review", "import", "refused.jsonl", "--reviewer", "careless")
    yield "review next (nothing waiting)", rows("review", "next", RUN_D, "--reviewer", "ada")
    yield "review export", rows("review", "export", RUN_B, "-o", "packets")
    yield "review status", rows("review", "status", RUN_B)
    yield "review agreement", rows("review", "agreement", RUN_B)
    yield "review tasks", rows("review", "tasks", TURNS[0])
    labels = "".join(f"{one['attempt_id']},MODEL_FAULT\n" for one in rows("failures", RUN_B)[:4])
    Path("labels.csv").write_text(f"attempt_id,label\n{labels}", encoding="utf-8")
    yield "review calibrate", rows("review", "calibrate", "labels.csv")
    yield "show", [row for one in rows("failures", RUN_B) for row in rows("show", one["attempt_id"])]
    yield "failures", rows("failures", RUN_B)


def about_buckets() -> Iterator[tuple[str, Rows]]:
    yield "buckets suggest", rows("buckets", "suggest", *TURNS)
    listed = rows("buckets", "list", *TURNS)
    yield "buckets list", listed
    largest, other = sorted(listed, key=lambda one: -one["mistakes"])[:2]
    details = rows("buckets", "show", largest["slug"])
    yield "buckets show", details
    member = details[0]["members"][0]["attempt_id"]
    yield "buckets split", rows("buckets", "split", largest["slug"], member, "--title", "A cause of its own")
    yield "buckets move", rows("buckets", "move", member, "--to", largest["slug"])
    yield "buckets rename", rows("buckets", "rename", other["slug"], "Another name")
    for one in details[0]["members"][:3]:
        _review(one["attempt_id"], bucket=largest["slug"])
    yield "buckets confirm", rows("buckets", "confirm", largest["slug"])
    yield "buckets merge", rows("buckets", "merge", largest["slug"], other["id"])
    yield "buckets undo", rows("buckets", "undo")
    yield "buckets history", rows("buckets", "history")


def _review(attempt: str, *, bucket: str) -> None:
    (packet,) = rows("review", "next", attempt, "--reviewer", "ben")
    Path("verdict.json").write_text(
        json.dumps(an_answer(packet, label="partial_multi_tool_execution", bucket=bucket)), encoding="utf-8"
    )
    rows("review", "submit", "verdict.json", "--reviewer", "ben")


def about_memory() -> Iterator[tuple[str, Rows]]:
    change = ("--what", "allows unused arguments", "--path", "eslint.config.mjs", "--for", GREETING)
    added = rows("action", "add", *change, "--date", "2026-03-04")
    yield "action add", added
    yield "action list", rows("action", "list")
    yield "action rm", rows("action", "rm", added[0]["action"]["id"])
    gap = rows("known", "add", SHAPE, "--text", "The guidelines are silent on the shape of a page")
    yield "known add", gap
    yield "known list", rows("known", "list")
    yield "known rm", rows("known", "rm", gap[0]["gap"]["id"])


def about_files() -> Iterator[tuple[str, Rows]]:
    day = ("--date", "2026-03-10")
    yield "report --profile run", rows("report", RUN_B, "-o", "report.md", *day)
    yield "report --profile comparison", rows("report", RUN_A, RUN_B, "-o", "compared", *day)
    yield "report --profile batch", rows("report", "batch-gen2", "--profile", "batch", "-o", "batch", *day)
    known = {one["run_id"] for one in rows("runs")}
    rows("import", FIXTURES / "conversation_bench/unjudged/data")
    unjudged = [one["run_id"] for one in rows("runs") if one["run_id"] not in known]
    yield "report (transcripts)", rows("report", *unjudged, "-o", "transcripts", *day)
    yield "issues", rows("issues", "batch-gen2", "-o", "issues", "--date", "2026-03-10")
    inspect = [one["run_id"] for one in rows("runs") if one["source"] == "inspect-ai"]
    yield "writeback", rows("writeback", *inspect)
    yield "export", rows("export", RUN_B)
    yield "export --to inspect", rows("export", RUN_B, "--to", "inspect")


def about_the_runner() -> Iterator[tuple[str, Rows]]:
    """With a program in Inspect's place that leaves a genuine log."""
    program = stub_inspect.install(Path("bin"))
    kept = {name: os.environ.get(name) for name in ("ERRATA_INSPECT", "STUB_NOTES", "PATH")}
    os.environ.update(
        ERRATA_INSPECT=str(program.absolute()),
        STUB_NOTES=str(Path("notes").absolute()),
        PATH=f"{program.parent.absolute()}{os.pathsep}{kept['PATH']}",
    )
    Path("models.toml").write_text(MODELS, encoding="utf-8")
    try:
        yield "models list", rows("models", "list")
        yield "models check", rows("models", "check")
        yield "models smoke", rows("models", "smoke", "arithmetic")
        yield "run --dry-run", rows("run", "arithmetic", "--dry-run")
        yield "run", rows("run", "arithmetic")
        yield "rerun --execute", rows("rerun", "fc6bTYwd", "--case", "1+1", "--execute", "--yes")
    finally:
        for name, value in kept.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def about_skills() -> Iterator[tuple[str, Rows]]:
    yield "skill list", rows("skill", "list")
    yield "skill install", rows("skill", "install", "--dir", "skills")
    yield "skill check", rows("skill", "check", "--dir", "skills")
    yield "skill rm", rows("skill", "rm", "--dir", "skills")


def about_tokens() -> Iterator[tuple[str, Rows]]:
    created = rows("token", "create", "ci", "--scope", "report")
    at = "2026-03-10T08:00:00Z"
    settled = {"id": "0123456789ab", "created_at": at, "created_by": "ada"}  # else by chance, by time and by machine
    yield "token create", [{"token": row["token"] | settled, "secret": "errata_0123456789ab_…"} for row in created]
    yield "token list", [row | settled for row in rows("token", "list")]
    yield "token revoke", [row | settled | {"revoked_at": at} for row in rows("token", "revoke", "ci")]


def about_the_store() -> Iterator[tuple[str, Rows]]:
    shutil.copytree(CONVEX / "run_c/data", "watched")
    yield "watch", rows("watch", "watched", "--once", "--settle", "0")
    yield "sources", rows("sources")
    Path("results.csv").write_text("task_id,answer,score\nt1,4,1\nt2,5,0\n", encoding="utf-8")
    yield "map", rows("map", "results.csv")
    yield "taxonomies", rows("taxonomies")
    yield "doctor", rows("doctor")
    yield "store backup", rows("store", "backup", "saved.db")
    yield "store copy", rows("store", "copy", "saved.db", "copied.db")
    aside = {"put_aside": "/home/ada/project/.errata/errata.db.before-restore-20260310T080000Z"}  # else by time
    yield "store restore", [row | aside for row in rows("store", "restore", "saved.db", "--force")]
    yield "store size", rows("store", "size")
    yield "store thin", [*rows("store", "thin", "batch-gen2", "--dry-run"), *rows("store", "thin", "batch-gen2")]
    yield "exclude", rows("exclude", RUN_B, "--reason", "the provider was down")
    yield "exclude", rows("exclude", RUN_B, "--undo")
    yield "rm", rows("rm", "batch-gen2", "--yes")
    with Deployment("run_a") as deployment:
        yield "fetch", rows("fetch", FETCHED, "--deployment", deployment.address, "-o", "fetched")
    Path("errata.toml").write_text('[deployments.own]\nurl = "https://own.example.com"\n', encoding="utf-8")
    yield "trust", rows("trust")
    yield "trust --list", rows("trust", "--list")
    yield "trust", rows("trust", "--remove")


STEPS: tuple[Step, ...] = (
    about_runs,
    about_failures,
    about_several_runs,
    about_memory,
    about_buckets,
    about_review,
    about_files,
    about_the_runner,
    about_skills,
    about_tokens,
    about_the_store,
)
