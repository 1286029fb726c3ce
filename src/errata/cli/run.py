"""`errata run`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import click

from errata.cli.analyze import show_analysis
from errata.cli.models import models_option, smoke_output
from errata.cli.options import Options, reports_option, shared_options
from errata.cli.output import put, put_json, put_quote, put_words, say
from errata.model.output.runner import RunJobOutput, RunPlanOutput
from errata.runner.models import SCHEDULES, eval_command, find_inspect, load_models
from errata.runner.run import REASONS, SMOKE_CASES, JobResult, SuiteJob, check_all, has_run, run_job
from errata.runs.view import RunView
from errata.text.shell import shell_word
from errata.verbs.report import report_failures

QUOTED = 3
STEPS = {"smoke": f"trying it on {SMOKE_CASES} cases first", "run": "running the suite", "import": "importing the log"}


@click.command("run")
@click.argument("suites", nargs=-1, required=True, metavar="SUITE…")
@click.option("--model", "names", multiple=True, metavar="NAME", help="Only this model; repeatable. Default: all.")
@click.option("--schedule", type=click.Choice(SCHEDULES), default=None, help="Only models with this schedule.")
@click.option("--limit", type=click.IntRange(min=1), default=None, metavar="N", help="At most N cases per suite.")
@click.option(
    "--smoke/--no-smoke",
    default=None,
    help="Try every model on two cases first, or none. Default: models that have not run the suite.",
)
@click.option(
    "--log-dir",
    type=click.Path(path_type=Path),
    default=Path("logs"),
    show_default=True,
    help="Folder for Inspect's logs.",
)
@click.option("--no-report", is_flag=True, help="Do not write a report.")
@click.option("--dry-run", is_flag=True, help="Only print the commands.")
@models_option
@reports_option
@shared_options
def command(
    suites: tuple[str, ...],
    names: tuple[str, ...],
    schedule: str | None,
    limit: int | None,
    smoke: bool | None,
    log_dir: Path,
    no_report: bool,
    dry_run: bool,
    models: Path,
    options: Options,
) -> None:
    """Run suites with Inspect AI, then analyse the results.

    SUITE is a suite of the models file, a file with an Inspect task, FILE@TASK, or a registered task. A model that has
    not run the suite is tried on two cases first. An invalid run (no tokens, too many rate limits, nothing scored) is
    excluded instead of counting as zero; the exit code is then 1.
    """
    file, program = load_models(models), find_inspect()
    chosen = file.chosen(names, schedule=schedule or "")
    meant = [file.suite(name) for name in suites]
    jobs = [
        SuiteJob(model=model, suite=suite, program=program, logs=log_dir, limit=limit)
        for suite in meant
        for model in chosen
    ]
    if dry_run:
        _show_plan(jobs, smoke, options)
        return
    check_all(jobs)
    failed = False
    for at, job in enumerate(jobs):
        result = _run(job, smoke, options)
        failed = failed or not result.ok
        reported = result.view if result.ok and not no_report else None
        report = report_failures(reported, say) if reported is not None else None
        if options.json:
            put_json(_output(result, report))
            continue
        if at:
            put()
        _show(result, report)
    if failed:
        raise click.exceptions.Exit(1)


def _run(job: SuiteJob, smoke: bool | None, options: Options) -> JobResult:
    def on_step(step: str) -> None:
        say(f"{job.model.name} on {job.suite.name}: {STEPS[step]}")

    return run_job(job, options.store, smoke=smoke, on_step=on_step)


def _show(result: JobResult, report: Path | None) -> None:
    job = result.job
    if result.invalid is None and result.view is not None:
        show_analysis(result.view.summary, as_json=False, report=report)
        return
    assert result.invalid is not None
    when = "smoke run" if result.view is None and result.smoke is not None and result.smoke.invalid else "run"
    put(f"INVALID {when}: {job.model.name} on {job.suite.name}: {REASONS[result.invalid]}", hang=4)
    for quote in _quotes(result):
        put_quote(quote, indent=2, most=QUOTED)
    if result.view is not None:
        put("The run is excluded from every score.")
    elif result.exit_code:
        put(f"Inspect ended with exit code {result.exit_code}; its messages are above.")


def _quotes(result: JobResult) -> Iterator[str]:
    if result.view is not None:
        for finding in result.view.health.findings[:1]:
            yield from (evidence.quote for evidence in finding.evidence[:1] if evidence.quote)
    elif result.smoke is not None and result.smoke.quote:
        yield result.smoke.quote


def _show_plan(jobs: list[SuiteJob], smoke: bool | None, options: Options) -> None:
    for at, job in enumerate(jobs):
        made = eval_command(job.model, job.suite, program=job.program, logs=job.logs.absolute(), limit=job.limit)
        first = smoke if smoke is not None else not has_run(job.model, job.suite, options.store)
        if options.json:
            put_json(
                RunPlanOutput(model=job.model.name, suite=job.suite.name, argv=made.argv, env=made.env, smoke=first)
            )
            continue
        if at:
            put()
        put(f"{job.model.name} on {job.suite.name}{', after a smoke run' if first else ''}")
        settings = [f"{name}={value}" for name, value in made.env.items()]
        words = [*(["env", *settings] if settings else []), *made.argv]
        put_words([shell_word(word) for word in words], head="  ", deeper=6)


def _output(result: JobResult, report: Path | None) -> RunJobOutput:
    view = result.view
    return RunJobOutput(
        model=result.job.model.name,
        suite=result.job.suite.name,
        run=view.run.native_id if view is not None else None,
        run_id=view.run.id if view is not None else None,
        invalid=result.invalid,
        smoke=smoke_output(result.smoke) if result.smoke is not None else None,
        cases=view.stored.counts.cases if view is not None else None,
        failures=view.stored.counts.failures if view is not None else None,
        strict=_rate(result, view, "strict"),
        clean=_rate(result, view, "clean"),
        report=str(report) if report is not None else None,
        inspect_exit_code=result.exit_code,
    )


def _rate(result: JobResult, view: RunView | None, policy: Literal["strict", "clean"]) -> float | None:
    """None for an invalid run: it has no score."""
    return view.scores().scores[policy].rate if view is not None and result.invalid is None else None
