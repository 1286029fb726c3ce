"""ProjectScylla: the batch runner by test, or within one experiment by tier, subtest and run."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from errata.model import Run
from errata.rerun.batches import repeated
from errata.rerun.fit import MODEL, UnfitError, fit, fit_number, fit_path, shaped
from errata.rerun.plan import ByHand, Command, Plan, Request, Wanted, texts, told
from errata.text.clean import one_line

TEST = re.compile(r"test-[0-9]{1,6}")
TIER = re.compile(r"T[0-9]")
SUBTEST = re.compile(r"(?P<test>test-[0-9]{1,6})/(?P<tier>T[0-9])/(?P<subtest>[0-9]{1,3})")
RUNS = 1_000
"""In one command; a tier has some forty subtests with ten runs each."""
THINKING = ("None", "Low", "High", "UltraThink")
TESTS = "tests/fixtures/tests"
MODEL_WORD = "MODEL"
NO_MODEL = "the log does not name the model, and the harness would take its default one"
EXPORT = "a table does not tell where the experiment lies: name its folder to errata instead"

CHECKOUT = "to be run in a checkout of ProjectScylla"
ELSEWHERE = "results go to a folder of their own: in the old one the runner takes for done all that it has a result of"
RESUMED = "the runner resumes a test where it ended: what was finished there is kept"
UNTOLD = "`--runs`, `--tiers` and `--max-subtests` are not in the log: add those of the first time"


def plan(request: Request) -> Plan:
    version = request.run.source.format_version
    if version.startswith("export"):
        raise UnfitError(EXPORT)
    if version == "batch summary 1":
        # its status `fail` hides crashes, which it would not repeat in place
        return _batch(request.run, request.wanted, _pixi("run_e2e_batch.py"), f"{request.run.origin}-rerun")
    return _second_generation(request) if version.startswith("batch") else _experiment(request)


def _second_generation(request: Request) -> Plan:
    run, script = request.run, (*_pixi("manage_experiment.py", "run"), f"--config={TESTS}")
    resumed = _batch(run, [one for one in request.wanted if one.broke], script, run.origin)
    done = _batch(run, [one for one in request.wanted if not one.broke], script, f"{run.origin}-rerun")
    return Plan(
        commands=(*resumed.commands, *done.commands),
        by_hand=(*resumed.by_hand, *done.by_hand),
        notes=tuple(dict.fromkeys((*resumed.notes, *done.notes))),
    )


def _batch(run: Run, wanted: Sequence[Wanted], script: tuple[str, ...], results: str) -> Plan:
    fixed = (*script, f"--results-dir={fit_path(Path(results), 'results')}", *_settings(run, "runs", "tiers"))

    def build(names: list[str], _often: int) -> Command:
        return Command(argv=(*fixed, "--tests", *names), fill_in=_to_fill(run))

    untold = [] if told(run, "config") else [UNTOLD]
    where = RESUMED if results == run.origin else ELSEWHERE
    return repeated(wanted, _test, build, [CHECKOUT, where, *untold, *_other_model(run)])


def _experiment(request: Request) -> Plan:
    """Filters multiply, so only the subtests of a tier that lack the same runs share a command."""
    of_subtest: dict[str, list[Wanted]] = {}
    for one in request.wanted:
        of_subtest.setdefault(one.case, []).append(one)
    groups: dict[Group, list[Wanted]] = {}
    by_hand: list[ByHand] = []
    for case, mine in of_subtest.items():
        found = SUBTEST.fullmatch(case)
        if found is None:
            by_hand += [ByHand(one, "it names no test, tier and subtest") for one in mine]
            continue
        for at in range(0, len(mine), RUNS):
            part = mine[at : at + RUNS]
            numbers = tuple(sorted({one.index for one in part}))
            answered = all(one.execution == "completed" for one in part)
            groups.setdefault(Group(found["test"], found["tier"], numbers, answered), []).extend(part)
    commands = tuple(_from(request.run, group, mine) for group, mine in groups.items())
    return Plan(commands=commands, by_hand=tuple(by_hand), notes=(CHECKOUT,) if commands else ())


class Group(NamedTuple):
    test: str
    tier: str
    numbers: tuple[int, ...]
    answered: bool


def _from(run: Run, group: Group, wanted: list[Wanted]) -> Command:
    """From the agent on; where that has answered, from the judges on."""
    folder = Path(run.origin)
    if not folder.name.endswith(f"-{group.test}"):
        raise UnfitError(f"the harness looks for a folder whose name ends in `-{group.test}`")
    subtests = dict.fromkeys(one.case.rpartition("/")[2] for one in wanted)
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
        wanted=tuple(wanted),
        fill_in=_to_fill(run),
    )


def _pixi(script: str, *words: str) -> tuple[str, ...]:
    return ("pixi", "run", "python", f"scripts/{script}", *words)


def _test(case: str) -> str:
    return shaped(case, "id of the test", TEST)


def _settings(run: Run, runs: str, tiers: str) -> tuple[str, ...]:
    """How the run was set up, as far as its log tells: a repetition with other settings would be another run."""
    told_tiers = [tier for tier in texts(told(run, "config", tiers)) if TIER.fullmatch(tier)]
    numbers = {"--runs": told(run, "config", runs), "--max-subtests": told(run, "config", "max_subtests")}
    thinking = told(run, "config", "thinking")
    judges = [fit(judge, "judge", MODEL) for judge in run.roles.values()]
    return (
        f"--model={fit(run.subject.model, 'model', MODEL) if run.subject.model else MODEL_WORD}",
        *(f"--judge-model={judge}" for judge in judges[:1]),
        *(f"--add-judge={judge}" for judge in judges[1:]),
        *(f"{flag}={number}" for flag, value in numbers.items() if (number := fit_number(value))),
        *([f"--thinking={thinking}"] if thinking in THINKING else []),
        *(["--tiers", *told_tiers] if told_tiers else []),
    )


def _to_fill(run: Run) -> dict[str, str]:
    return {} if run.subject.model else {MODEL_WORD: NO_MODEL}


def _other_model(run: Run) -> list[str]:
    """The summary of a batch and its logs do not always agree."""
    named = [model for model in texts(told(run, "models_in_commands")) if model != run.subject.model]
    told_so = one_line(", ".join(named), 80)
    return [f"the thread logs name another model than the summary: {told_so}"] if named else []
