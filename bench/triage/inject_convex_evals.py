"""convex-evals: the eval's `status.failureReason` and its steps, in `getRunDetails` and in `getEvalDebugInfo`."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from bench.triage.logs import Harness, Place, Target, Twin, changed
from bench.triage.templates import Template

FIXTURE = "convex_evals/run_b"
PASSED = "000-fundamentals/000-greeting_query"
FAILED = "002-queries/001-text_lookup"
COMPILED = "001-data_modeling/003-optional_index"
# the words by which the harness itself puts `[rate_limit]` before a generation error
RATE_LIMIT_WORDS = ("rate limit", "rate_limit", "too many requests", "quota", "429", "throttl")
PIPELINE = ("filesystem", "install", "deploy", "tsc", "eslint", "tests")
FIRST_REASON = {"install": "install fail", "deploy": "convex dev fail", "tsc": "tsc fail", "eslint": "eslint fail"}


def call(root: Path, fault: Template) -> Target:
    _fail_generation(root, fault, (PASSED,))
    return Target(PASSED)


def every_call(root: Path, fault: Template) -> Target:
    with changed(root / "getRunDetails.envelope.json") as answer:
        paths = tuple(one["evalPath"] for one in answer["value"]["evals"])
    _fail_generation(root, fault, paths)
    return Target(PASSED)


def install(root: Path, fault: Template) -> Target:
    return fail_step(root, "install", fault.text)


def deploy(root: Path, fault: Template) -> Target:
    return fail_step(root, "deploy", fault.text)


def runner(root: Path, fault: Template) -> Target:
    with on_eval(root, PASSED) as eval_run:
        eval_run["steps"] = []
        eval_run["status"] = {
            "kind": "failed",
            "failureReason": f"error: {fault.type}: {fault.text}",
            "durationMs": 900,
        }
    return Target(PASSED)


def lint(root: Path, fault: Template) -> Target:
    return fail_step(root, "eslint", fault.text)


def task(root: Path, decoy: Template) -> Target:
    with on_eval(root, FAILED) as eval_run:
        eval_run["task"] = f"{eval_run['task']}{decoy.text}\n"
    with on_debug(root, FAILED) as info:
        info["eval"]["task"] = info["evalSourceFiles"]["TASK.txt"] = f"{info['eval']['task']}{decoy.text}\n"
    return Target(FAILED)


def case_name(root: Path, decoy: Template) -> Target:
    name = f"002-queries/007-{decoy.text}"
    for file in root.rglob("*.json"):
        file.write_text(file.read_text(encoding="utf-8").replace(FAILED, name), encoding="utf-8")
    return Target(name)


def answer(root: Path, decoy: Template) -> Target:
    with on_debug(root, FAILED) as info:
        info["outputFiles"]["convex/notes.ts"] = f"/*\n{decoy.text}\n*/\n"
    return Target(FAILED)


def test_output(root: Path, decoy: Template) -> Target:
    with on_debug(root, FAILED) as info:
        info["outputFiles"]["run.log"] += f"[vitest] {decoy.text}\n[error] tests: tests failed (90%)\n"
    return Target(FAILED)


def test_name(root: Path, decoy: Template) -> Target:
    with on_debug(root, FAILED) as info:
        info["outputFiles"]["run.log"] += f"[vitest] FAIL grader.test.ts > {decoy.text}\n"
        info["evalSourceFiles"]["grader.test.ts"] += f'test("{decoy.text}", async () => {{}});\n'
    return Target(FAILED)


def compiler(root: Path, decoy: Template) -> Target:
    """The compiler's message on the subject's own code."""
    reason = f"Error: Command failed: bunx convex dev --once\n✖ {decoy.text}"
    with on_eval(root, COMPILED) as eval_run:
        eval_run["steps"][-1]["status"]["failureReason"] = reason
    return Target(COMPILED)


def _fail_generation(root: Path, fault: Template, paths: tuple[str, ...]) -> None:
    limited = any(word in fault.text.lower() for word in RATE_LIMIT_WORDS)
    reason = f"{'[rate_limit] ' if limited else ''}error: {fault.text}"
    with changed(root / "getRunDetails.envelope.json") as answer:
        for entry in answer["value"]["evals"]:
            if entry["evalPath"] in paths:
                entry["steps"] = []
                entry["status"] = {"kind": "failed", "failureReason": reason, "durationMs": 91_000}
    if len(paths) > 1:
        # the collected failures contradict this
        for file in (*root.glob("getFailedEvals*.json"), *root.glob("getEvalDebugInfo/*.json")):
            file.unlink()


def fail_step(root: Path, step: str, reason: str) -> Target:
    with on_eval(root, PASSED) as eval_run:
        last = len(PIPELINE) if step == "eslint" else PIPELINE.index(step) + 1
        eval_run["steps"] = [row for row in eval_run["steps"] if row["name"] in PIPELINE[:last]]
        failed = next(row for row in eval_run["steps"] if row["name"] == step)
        failed["status"] = {"kind": "failed", "failureReason": reason, "durationMs": 2100}
        eval_run["status"] |= {"kind": "failed", "failureReason": FIRST_REASON[step]}
    return Target(PASSED)


@contextmanager
def on_eval(root: Path, path: str) -> Iterator[Any]:
    """One eval of `getRunDetails`, to be changed."""
    with changed(root / "getRunDetails.envelope.json") as answer:
        yield next(one for one in answer["value"]["evals"] if one["evalPath"] == path)


def on_debug(root: Path, path: str) -> AbstractContextManager[Any]:
    """The debug answer of one eval, to be changed."""
    return changed(next(file for file in root.glob("getEvalDebugInfo/*.json") if path in file.read_text("utf-8")))


HARNESS = Harness(
    "convex-evals",
    {
        "call": Place(FIXTURE, call),
        "every_call": Place(FIXTURE, every_call),
        "setup": Place(FIXTURE, install),
        "deploy": Place(FIXTURE, deploy),
        "harness": Place(FIXTURE, runner),
        "lint": Place(FIXTURE, lint),
        "task": Place(FIXTURE, task),
        "case_name": Place(FIXTURE, case_name),
        "answer": Place(FIXTURE, answer),
        "test_output": Place(FIXTURE, test_output),
        "test_name": Place(FIXTURE, test_name),
        "compiler": Place(FIXTURE, compiler),
    },
    tuple(
        Twin(FIXTURE, Target(case))
        for case in (
            FAILED,
            COMPILED,
            "004-actions/003-rate_limit_guard",
            "005-idioms/003-shared_validator",
            "005-idioms/004-pick_primitive",
        )
    ),
)
