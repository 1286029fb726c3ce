"""`errata run` in its order: preflight, smoke run for a new model, full run, import, and a check that it measured."""

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from errata.errors import SettingsError
from errata.model.record import Struct
from errata.runner.models import (
    InspectCommand,
    ModelDefinition,
    SuiteDefinition,
    eval_command,
    inspect_model,
    run_inspect,
)
from errata.runs.view import RunView
from errata.verbs.analyze import analyze_stored, import_logs
from errata.verbs.store import Store, all_runs, exclude, open_store, run_by_id

SMOKE_CASES = 2
RATE_LIMITED = 0.05
"""With more than this share of attempts lost to rate limits, a run shows the quota and not the model."""
RATE_LIMIT_RULES = frozenset(("provider_rate_limit", "provider_quota", "experiment_rate_limit"))
WhyInvalid = Literal["no_log", "no_tokens", "rate_limited", "unavailable", "nothing_scored"]
"""Why a run does not measure its model."""
REASONS: dict[WhyInvalid, str] = {
    "no_log": "Inspect wrote no log",
    "no_tokens": "no attempt used a token, so the model was never reached",
    "rate_limited": "rate limits stopped more than 1 attempt in 20",
    "unavailable": "every attempt ended in the same error",
    "nothing_scored": "no attempt was scored",
}


class SuiteJob(Struct):
    """One model on one suite."""

    model: ModelDefinition
    suite: SuiteDefinition
    program: str
    """Inspect's."""
    logs: Path
    """The folder for its logs."""
    limit: int | None = None


class JobResult(Struct):
    job: SuiteJob
    smoke: "SmokeResult | None" = None
    """None where the model has run this suite before."""
    view: RunView | None = None
    invalid: WhyInvalid | None = None
    exit_code: int = 0
    """Inspect's."""

    @property
    def ok(self) -> bool:
        return self.view is not None and self.invalid is None


class SmokeResult(Struct):
    cases: int
    tokens: int | None
    invalid: WhyInvalid | None
    quote: str = ""
    """The first error, if there was one."""
    exit_code: int = 0


def run_job(
    job: SuiteJob, store: Store, *, smoke: bool | None = None, on_step: Callable[[str], None] = lambda _: None
) -> JobResult:
    """`smoke` forces or forbids the smoke run; by default only a new model has one."""
    is_known = has_run(job.model, job.suite, store)
    first = None
    if smoke or (smoke is None and not is_known):
        on_step("smoke")
        first = smoke_run(job)
        if first.invalid is not None:
            return JobResult(job=job, smoke=first, invalid=first.invalid, exit_code=first.exit_code)
    on_step("run")
    before = set(logs_in(job.logs))
    code = run_inspect(_command(job, job.logs))
    on_step("import")
    fresh = sorted(set(logs_in(job.logs)) - before)
    views = _imported(fresh, store)
    if not views:
        return JobResult(job=job, smoke=first, invalid="no_log", exit_code=code)
    view = views[0]
    invalid = why_invalid(view)
    if invalid is not None:
        exclude(store, view.run.id, reason=f"invalid run: {REASONS[invalid]}", author="errata run")
        view = RunView(run_by_id(store, view.run.id), store)
    return JobResult(job=job, smoke=first, view=view, invalid=invalid, exit_code=code)


def smoke_run(job: SuiteJob) -> SmokeResult:
    """Try a model on one or two cases. The log goes into a store of its own, which is removed."""
    with tempfile.TemporaryDirectory(prefix="errata-smoke-") as folder:
        logs = Path(folder) / "logs"
        code = run_inspect(_command(job, logs, smoke=True))
        store = open_store(Path(folder) / "smoke.db")
        with store.kept_open():
            views = _imported(logs_in(logs), store)
            if not views:
                return SmokeResult(cases=0, tokens=None, invalid="no_log", exit_code=code)
            (view, *_) = views
            counts = view.stored.counts
            return SmokeResult(
                cases=counts.cases,
                tokens=counts.tokens,
                invalid=why_invalid(view),
                quote=_first_error(view),
                exit_code=code,
            )


def has_run(model: ModelDefinition, suite: SuiteDefinition, store: Store) -> bool:
    name = inspect_model(model)
    tasks = {suite.name, suite.task.rpartition("@")[2].rpartition("/")[2].removesuffix(".py")}
    return any(
        stored.run.subject.model in (name, name.removeprefix("openai-api/"))
        and stored.run.suite.rpartition("/")[2] in tasks
        and stored.run.excluded is None
        for stored in all_runs(store)
    )


def why_invalid(view: RunView) -> WhyInvalid | None:
    """Zero tokens and rate limits make a run invalid; they are never a score of zero."""
    counts = view.stored.counts
    if any(finding.name == "unavailable" for finding in view.health.findings):
        return "unavailable"
    if not counts.tokens:
        return "no_tokens"
    rules = Counter(one.decided_by for one in view.attributions.values())
    limited = sum(rules[name] for name in RATE_LIMIT_RULES)
    if counts.counted and limited / counts.counted > RATE_LIMITED:
        return "rate_limited"
    return None if counts.measurements.get("scored") else "nothing_scored"


def check_all(jobs: list[SuiteJob]) -> None:
    """Refuse to start if any model lacks what it needs, so that half a schedule is not run."""
    missing = [result for result in (preflight(job.model) for job in jobs) if not result.ok]
    if missing:
        names = ", ".join(dict.fromkeys(f"{one.key_variable} for `{one.model.name}`" for one in missing))
        raise SettingsError(f"No key is set: {names}", hint="set the variable; `errata models check` lists all models")


def logs_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.eval")) if folder.is_dir() else []


def _command(job: SuiteJob, logs: Path, *, smoke: bool = False) -> InspectCommand:
    limit = SMOKE_CASES if smoke else job.limit
    return eval_command(job.model, job.suite, program=job.program, logs=logs.absolute(), limit=limit, is_smoke=smoke)


def _imported(logs: list[Path], store: Store) -> list[RunView]:
    if not logs:
        return []
    runs, _ = import_logs(logs, store)
    return analyze_stored([one.run.id for one in runs], store)


def _first_error(view: RunView) -> str:
    for attempt in view.attempts():
        for error in attempt.errors:
            return error.message
    return ""


# --- what can be known before money is spent: is everything there that a model's definition needs?


KEY_VARIABLES = {
    "anthropic": "ANTHROPIC_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "fireworks": "FIREWORKS_API_KEY",
    "google": "GOOGLE_API_KEY",
    "groq": "GROQ_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "openai": "OPENAI_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "perplexity": "PERPLEXITY_API_KEY",
    "together": "TOGETHER_API_KEY",
}
"""Where Inspect looks for the key of a provider. Of others it is not known before the run."""
ProblemName = Literal["key_missing"]


class Preflight(Struct):
    """The result for one model."""

    model: ModelDefinition
    key_variable: str
    """The variable that must hold a key; empty where none is needed or it is not known."""
    problem: ProblemName | None = None

    @property
    def ok(self) -> bool:
        return self.problem is None


def preflight(model: ModelDefinition, environ: Mapping[str, str] = os.environ) -> Preflight:
    """Sends nothing."""
    variable = model.key_name if model.base_url else KEY_VARIABLES.get(model.provider, "")
    missing = bool(variable) and not environ.get(variable, "").strip()
    return Preflight(model=model, key_variable=variable, problem="key_missing" if missing else None)
