"""ProjectScylla: the batch runner by test, or within one experiment by tier, subtest and run."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from errata.model import Run
from errata.model.output.act import FillIn
from errata.rerun.plan import (
    MODEL,
    ByHand,
    Command,
    PlanNote,
    RerunAttempt,
    RerunPlan,
    RerunRequest,
    UnfitError,
    batch_commands,
    fit,
    fit_number,
    fit_path,
    log_value,
    shaped,
    texts,
)
from errata.text.lazy_regex import lazy_regex

TEST = lazy_regex(r"test-[0-9]{1,6}")
TIER = lazy_regex(r"T[0-9]")
SUBTEST = lazy_regex(r"(?P<test>test-[0-9]{1,6})/(?P<tier>T[0-9])/(?P<subtest>[0-9]{1,3})")
RUNS = 1_000
"""Runs in one command; a tier has about forty subtests with ten runs each."""
THINKING = ("None", "Low", "High", "UltraThink")
TESTS = "tests/fixtures/tests"
MODEL_WORD = "MODEL"
CHECKOUT = PlanNote("run_in_checkout", ("ProjectScylla",))


def plan(request: RerunRequest) -> RerunPlan:
    version = request.run.source.format_version
    if version.startswith("export"):
        raise UnfitError("export_without_folder")
    if version == "batch summary 1":
        # its status `fail` also covers crashes, and the runner would not repeat those in place
        return _batch(request.run, request.attempts, _pixi("run_e2e_batch.py"), f"{request.run.origin}-rerun")
    return _second_generation(request) if version.startswith("batch") else _experiment(request)


def _second_generation(request: RerunRequest) -> RerunPlan:
    run, script = request.run, (*_pixi("manage_experiment.py", "run"), f"--config={TESTS}")
    resumed = _batch(run, [one for one in request.attempts if one.broke], script, run.origin)
    again = _batch(run, [one for one in request.attempts if not one.broke], script, f"{run.origin}-rerun")
    return RerunPlan(
        commands=(*resumed.commands, *again.commands),
        by_hand=(*resumed.by_hand, *again.by_hand),
        notes=tuple(dict.fromkeys((*resumed.notes, *again.notes))),
    )


def _batch(run: Run, attempts: Sequence[RerunAttempt], script: tuple[str, ...], results: str) -> RerunPlan:
    fixed = (*script, f"--results-dir={fit_path(Path(results), 'results')}", *_settings(run, "runs", "tiers"))

    def build(names: list[str], _often: int) -> Command:
        return Command(argv=(*fixed, "--tests", *names), fill_in=_to_fill(run))

    options = [] if log_value(run, "config") else [PlanNote("options_not_in_log")]
    where = PlanNote("resumes_in_place" if results == run.origin else "new_results_folder")
    return batch_commands(attempts, _test, build, [CHECKOUT, where, *options, *_other_model(run)])


def _experiment(request: RerunRequest) -> RerunPlan:
    """Filters are combined, so only subtests of the same tier and with the same runs share a command."""
    of_subtest: dict[str, list[RerunAttempt]] = {}
    for attempt in request.attempts:
        of_subtest.setdefault(attempt.case, []).append(attempt)
    groups: dict[SubtestGroup, list[RerunAttempt]] = {}
    by_hand: list[ByHand] = []
    for case, mine in of_subtest.items():
        match = SUBTEST.fullmatch(case)
        if match is None:
            by_hand += [ByHand(one, "no_subtest") for one in mine]
            continue
        for at in range(0, len(mine), RUNS):
            part = mine[at : at + RUNS]
            numbers = tuple(sorted({one.index for one in part}))
            answered = all(one.execution == "completed" for one in part)
            groups.setdefault(SubtestGroup(match["test"], match["tier"], numbers, answered), []).extend(part)
    commands = tuple(_from(request.run, group, mine) for group, mine in groups.items())
    return RerunPlan(commands=commands, by_hand=tuple(by_hand), notes=(CHECKOUT,) if commands else ())


class SubtestGroup(NamedTuple):
    test: str
    tier: str
    numbers: tuple[int, ...]
    answered: bool


def _from(run: Run, group: SubtestGroup, attempts: list[RerunAttempt]) -> Command:
    """From the agent on; if the agent finished, from the judges on."""
    folder = Path(run.origin)
    if not folder.name.endswith(f"-{group.test}"):
        raise UnfitError("folder_name", group.test)
    subtests = dict.fromkeys(one.case.rpartition("/")[2] for one in attempts)
    return Command(
        argv=(
            *_pixi("manage_experiment.py", "run"),
            f"--config={TESTS}/{group.test}",
            f"--results-dir={fit_path(folder.parent, 'results')}",
            *_settings(run, "runs_per_subtest", "tiers_to_run"),
            f"--from={'judge_pipeline_run' if group.answered else 'replay_generated'}",
            f"--filter-tier={group.tier}",
            *(f"--filter-subtest={one}" for one in subtests),
            *(f"--filter-run={number}" for number in group.numbers),
        ),
        attempts=tuple(attempts),
        fill_in=_to_fill(run),
    )


def _pixi(script: str, *words: str) -> tuple[str, ...]:
    return ("pixi", "run", "python", f"scripts/{script}", *words)


def _test(case: str) -> str:
    return shaped(case, "test id", TEST)


def _settings(run: Run, runs: str, tiers: str) -> tuple[str, ...]:
    """The run's settings, as far as its log has them: with other settings, a rerun would not be comparable."""
    known_tiers = [tier for tier in texts(log_value(run, "config", tiers)) if TIER.fullmatch(tier)]
    numbers = {"--runs": log_value(run, "config", runs), "--max-subtests": log_value(run, "config", "max_subtests")}
    thinking = log_value(run, "config", "thinking")
    judges = [fit(judge, "judge", MODEL) for judge in run.roles.values()]
    return (
        f"--model={fit(run.subject.model, 'model', MODEL) if run.subject.model else MODEL_WORD}",
        *(f"--judge-model={judge}" for judge in judges[:1]),
        *(f"--add-judge={judge}" for judge in judges[1:]),
        *(f"{flag}={number}" for flag, value in numbers.items() if (number := fit_number(value))),
        *([f"--thinking={thinking}"] if thinking in THINKING else []),
        *(["--tiers", *known_tiers] if known_tiers else []),
    )


def _to_fill(run: Run) -> dict[str, FillIn]:
    return {} if run.subject.model else {MODEL_WORD: "model_not_in_log"}


def _other_model(run: Run) -> list[PlanNote]:
    """The summary of a batch and its logs do not always agree."""
    models = [model for model in texts(log_value(run, "models_in_commands")) if model != run.subject.model]
    return [PlanNote("other_model_in_logs", tuple(models))] if models else []
