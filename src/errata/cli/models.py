"""`errata models`: the models that `errata run` knows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from errata.cli.lazy import LazyGroup, Table
from errata.cli.options import Options, shared_options
from errata.cli.output import put, put_json, put_quote, say
from errata.cli.table import put_table
from errata.model.output.runner import ModelsCheckOutput, ModelsListOutput, ModelsSmokeOutput, SmokeOutput
from errata.runner.models import FILE, ModelDefinition, find_inspect, inspect_model, load_models
from errata.runner.run import REASONS, SmokeResult, SuiteJob, check_all, preflight, smoke_run


def models_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--models",
        type=click.Path(path_type=Path),
        default=Path(FILE),
        show_default=True,
        help="File that defines models and suites.",
    )(function)


def smoke_output(result: SmokeResult) -> SmokeOutput:
    return SmokeOutput(cases=result.cases, tokens=result.tokens, invalid=result.invalid, error=result.quote or None)


SUBCOMMANDS: Table = {
    "list": ("models:list_", "List the models in the models file."),
    "check": ("models:check", "Check that Inspect and the models' keys are there; sends nothing."),
    "smoke": ("models:smoke", "Try models on one or two cases."),
}


@click.group("models", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli")
def command() -> None:
    """List, check and try the models that `run` uses.

    Models are defined in one file, `models.toml`.
    """


QUOTED = 3


@click.command("list")
@models_option
@shared_options
def list_(models: Path, options: Options) -> None:
    """List the models in the models file."""
    file = load_models(models)
    if options.json:
        for model in file.models:
            put_json(_listed(model))
        return
    if not file.models:
        say(f"`{models}` defines no model yet")
        return
    put_table(["model", "for Inspect", "server", "schedule", "settings"], [_row(one) for one in file.models])
    if file.suites:
        put()
        put_table(["suite", "task"], [(one.name, one.task) for one in file.suites])


def _row(model: ModelDefinition) -> tuple[str, ...]:
    return model.name, inspect_model(model), model.base_url or "–", model.schedule or "–", _settings(model)


def _listed(model: ModelDefinition) -> ModelsListOutput:
    return ModelsListOutput(
        name=model.name,
        provider=model.provider,
        model=model.model,
        base_url=model.base_url or None,
        api=model.api,
        key_name=model.key_name or None,
        schedule=model.schedule or None,
        settings=model.settings,
        inspect_model=inspect_model(model),
    )


def _settings(model: ModelDefinition) -> str:
    return ", ".join(f"{name} {value}" for name, value in model.settings.items()) or "–"


@click.command("check")
@click.argument("names", nargs=-1, metavar="[MODEL]…")
@models_option
@shared_options
def check(names: tuple[str, ...], models: Path, options: Options) -> None:
    """Check that Inspect and the models' keys are there; sends nothing.

    Exit code 1 if a key is missing.
    """
    results = [preflight(model) for model in load_models(models).chosen(names)]
    for result in results:
        variable = result.key_variable or None
        if options.json:
            name, problem = result.model.name, result.problem
            put_json(ModelsCheckOutput(name=name, ok=result.ok, key_variable=variable, problem=problem))
        elif not result.ok:
            put(f"{result.model.name}: no key: {variable} is not set")
        else:
            put(f"{result.model.name}: ready{f' ({variable} is set)' if variable else ''}")
    if not options.json:
        put(f"Inspect: {find_inspect()}")
    if not all(result.ok for result in results):
        raise click.exceptions.Exit(1)


@click.command("smoke")
@click.argument("suite", metavar="SUITE")
@click.argument("names", nargs=-1, metavar="[MODEL]…")
@models_option
@shared_options
def smoke(suite: str, names: tuple[str, ...], models: Path, options: Options) -> None:
    """Try models on one or two cases.

    Stores nothing. Exit code 1 if a model could not be measured.
    """
    file = load_models(models)
    program, meant = find_inspect(), file.suite(suite)
    jobs = [SuiteJob(model=model, suite=meant, program=program, logs=Path()) for model in file.chosen(names)]
    check_all(jobs)
    failed = False
    for job in jobs:
        result = smoke_run(job)
        failed = failed or result.invalid is not None
        if options.json:
            put_json(ModelsSmokeOutput(name=job.model.name, suite=meant.name, smoke=smoke_output(result)))
            continue
        if result.invalid is None:
            put(f"{job.model.name}: works ({result.cases} cases, {result.tokens or 0:,} tokens)")
        else:
            put(f"{job.model.name}: can't be measured: {REASONS[result.invalid]}")
        if result.quote:
            put_quote(result.quote, indent=2, most=QUOTED)
    if failed:
        raise click.exceptions.Exit(1)
