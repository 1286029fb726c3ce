"""Where the fixtures of Harbor are, the items that they give, and a job that a test can bend to its needs."""

import json
from functools import cache
from pathlib import Path

from errata.model import Attempt, Item, Run
from errata.sources import RecognisedPath, harbor, read

FIXTURES = Path(__file__).parents[1] / "fixtures" / "sources" / "harbor"
DEMO = FIXTURES / "demo-job" / "data" / "demo-job"
STEPS = FIXTURES / "steps-job" / "data" / "steps-job"
KIMI = FIXTURES / "large" / "kimi-job" / "data" / "kimi_k2.5"
TERMINAL_BENCH = FIXTURES / "large" / "terminal-bench" / "data"
CODER = TERMINAL_BENCH / "claude_code_coder"


def items(path: Path) -> list[Item]:
    match = harbor.recognise(path)
    assert match is not None
    return list(read(RecognisedPath(path, harbor, match)))


@cache
def items_of(path: Path) -> tuple[Item, ...]:
    return tuple(items(path))


def runs(found) -> list[Run]:
    return [item for item in found if isinstance(item, Run)]


def attempts(found) -> list[Attempt]:
    return [item for item in found if isinstance(item, Attempt)]


def by_task(found) -> dict[str, Attempt]:
    """Task → its first attempt, children left out."""
    return {one.case.partition("/")[2]: one for one in attempts(found) if one.parent is None and one.index == 1}


def facts(attempt: Attempt) -> tuple[str, str, str]:
    return attempt.execution, attempt.measurement, attempt.outcome


def documents(pattern: str, root: Path) -> dict[str, dict]:
    """The raw files, read without the source: path → JSON."""
    return {path.relative_to(root).as_posix(): json.loads(path.read_text()) for path in sorted(root.glob(pattern))}


def a_result(**changes) -> dict:
    given = {
        "id": "id-1",
        "task_name": "task",
        "trial_name": "task__a1",
        "source": "bench",
        "task_checksum": "sum",
        "config": {"agent": {"name": "agent", "model_name": "lab/model"}},
        "agent_info": {"name": "agent", "version": "1", "model_info": {"name": "model", "provider": "lab"}},
        "agent_result": {"n_input_tokens": 10, "n_cache_tokens": 4, "n_output_tokens": 5, "cost_usd": 0.1},
        "verifier_result": {"rewards": {"reward": 0.0}},
        "exception_info": None,
        "started_at": "2026-05-04T10:00:00Z",
        "finished_at": "2026-05-04T10:10:00Z",
    }
    return given | changes


def an_exception(kind: str, message: str = "it broke") -> dict:
    return {
        "exception_type": kind,
        "exception_message": message,
        "exception_traceback": "",
        "occurred_at": "2026-05-04T10:05:00Z",
    }


def write(path: Path, content) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def a_job(folder: Path, *results: dict, **job) -> Path:
    """A job folder with a trial for each result; `evals` are those of its `stats`."""
    for result in results:
        write(folder / result["trial_name"] / "result.json", result)
    stats = {"evals": job.pop("evals", {})} | job.pop("stats", {})
    given = {"id": "job-1", "started_at": "2026-05-04T10:00:00Z", "finished_at": "2026-05-04T11:00:00Z"}
    write(folder / "result.json", given | {"n_total_trials": len(results), "stats": stats} | job)
    return folder


def a_trial(folder: Path, **changes) -> Attempt:
    """The attempt that a result with these changes gives."""
    return attempts(items(a_job(folder, a_result(**changes))))[0]
