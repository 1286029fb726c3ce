"""convex-evals, for the fresh part: nothing generated, other steps that break, and graders that lack their files."""

from pathlib import Path

from bench.triage import inject_convex_evals as old
from bench.triage.inject_convex_evals import FAILED, FIXTURE, PASSED, fail_step, on_debug, on_eval
from bench.triage.logs import Place, Target, Twin, changed
from bench.triage.templates import Template

LINTED = "[ok] tsc\n[cmd] bunx eslint -c eslint.config.mjs .\n"
TESTED = "[cmd] bunx vitest run --reporter=json grader.test.ts\n"


def empty(root: Path, fault: Template) -> Target:
    """The first step finds nothing to write."""
    failed = {"kind": "failed", "failureReason": fault.text, "durationMs": 40}
    with on_eval(root, PASSED) as eval_run:
        eval_run["steps"] = [row | {"status": failed} for row in eval_run["steps"] if row["name"] == "filesystem"]
        eval_run["status"] |= {"kind": "failed", "failureReason": fault.text}
    return Target(PASSED)


def compile_step(root: Path, fault: Template) -> Target:
    return fail_step(root, "tsc", fault.text)


def lint_log(root: Path, fault: Template) -> Target:
    """The step has only its failure; the reason is in the log. Every test passes."""
    passed = {"kind": "passed", "durationMs": 2400}
    failed = {"kind": "failed", "failureReason": "eslint failed", "durationMs": 2700}
    lines = "".join(f"[eslint] {line}\n" for line in fault.text.splitlines())
    log = f"{LINTED}{lines}[error] eslint: eslint failed\n{TESTED}[ok] tests\n"
    _set(root, {"eslint": failed, "tests": passed}, "eslint fail", log)
    return Target(FAILED)


def missing_file(root: Path, fault: Template) -> Target:
    """The grader names a file that the eval does not have."""
    failed = {"kind": "failed", "failureReason": "tests failed (0%)", "durationMs": 900}
    log = f"{TESTED}[vitest] FAIL  {FAILED}/grader.test.ts\n[vitest] {fault.text}\n[error] tests: tests failed (0%)\n"
    _set(root, {"tests": failed}, "tests fail (0%)", log)
    return Target(FAILED)


def recovered(root: Path, decoy: Template) -> Target:
    """The install was tried again and went well; the tests then failed for the answer."""
    with on_debug(root, FAILED) as info:
        head, _, rest = info["outputFiles"]["run.log"].partition("[cmd] bun install\n")
        again = f"[cmd] bun install\n[setup] install failed, once more in 1 s: {decoy.text}\n[cmd] bun install\n"
        info["outputFiles"]["run.log"] = f"{head}{again}{rest}"
    return Target(FAILED)


def file_name(root: Path, decoy: Template) -> Target:
    with on_debug(root, FAILED) as info:
        info["outputFiles"][decoy.text] = "export const limit = 3;\n"
    return Target(FAILED)


def expected(root: Path, decoy: Template) -> Target:
    """The reference answer and its tests."""
    with on_debug(root, FAILED) as info:
        info["evalSourceFiles"]["answer/convex/notes.ts"] = f"/* {decoy.text} */\n"
        info["evalSourceFiles"]["grader.test.ts"] += f"// {decoy.text}\n"
    return Target(FAILED)


def types(root: Path, decoy: Template) -> Target:
    """The message of tsc on the subject's code."""
    fail_step(root, "tsc", f"Error: tsc failed\n{decoy.text}")
    with on_eval(root, PASSED) as eval_run:
        failed = {"kind": "failed", "failureReason": "tests failed (40%)", "durationMs": 3000}
        eval_run["steps"].append(eval_run["steps"][-1] | {"name": "tests", "status": failed})
    return Target(PASSED)


def _set(root: Path, steps: dict[str, dict[str, object]], reason: str, log: str) -> None:
    """The steps of the failed eval in both answers, and the end of its log."""
    with on_eval(root, FAILED) as eval_run:
        eval_run["status"]["failureReason"] = reason
        eval_run["steps"] = [row | {"status": steps.get(row["name"], row["status"])} for row in eval_run["steps"]]
    with on_debug(root, FAILED) as info:
        info["eval"]["status"]["failureReason"] = reason
        info["steps"] = [row | {"status": steps.get(row["name"], row["status"])} for row in info["steps"]]
        start = log.splitlines()[0]
        info["outputFiles"]["run.log"] = info["outputFiles"]["run.log"].partition(start)[0] + log
    for file in root.glob("getFailedEvals*.json"):
        with changed(file) as answer:
            _forget(answer)


def _forget(answer: dict[str, object]) -> None:
    """Earlier reports on the eval contradict this."""
    value = answer.get("value", answer)
    assert isinstance(value, dict)
    value["failedEvals"] = [one for one in value["failedEvals"] if one["evalPath"] != FAILED]


HARNESS = old.HARNESS._replace(
    places=old.HARNESS.places
    | {
        name: Place(FIXTURE, inject)
        for name, inject in {
            "empty": empty,
            "compile": compile_step,
            "lint_log": lint_log,
            "missing_file": missing_file,
            "recovered": recovered,
            "file_name": file_name,
            "expected": expected,
            "types": types,
        }.items()
    },
    twins=(
        Twin("convex_evals/local_output", Target("002-queries/004-range_condition")),
        Twin("convex_evals/local_output", Target("004-actions/003-rate_limit_guard")),
        Twin("convex_evals/local_output", Target("006-clients/002-optimistic_toggle")),
    ),
)
