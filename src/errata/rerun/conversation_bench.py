"""conversation-bench: only a rehydrated run can repeat a turn, because there each turn is a session of its own."""

import re

from errata.rerun.batches import batch_commands
from errata.rerun.fit import MODEL, UnfitError, fit, fit_number, shaped
from errata.rerun.plan import Command, PlanNote, RerunPlan, RerunRequest

TURN = re.compile(r"turn-[0-9]{1,6}")
REHYDRATED = "rehydrated"
NOTES = (
    PlanNote("run_in_checkout", ("audio-arena",)),
    PlanNote("service_not_in_log"),
    PlanNote("new_run"),
)


def plan(request: RerunRequest) -> RerunPlan:
    run = request.run
    if run.variant.get("mode") != REHYDRATED:
        raise UnfitError("continuous_conversation")
    fixed = (
        *("uv", "run", "audio-arena", "run", fit(run.suite, "benchmark")),
        f"--model={fit(run.subject.model, 'model', MODEL)}",
        "--rehydrate",
        *([f"--parallel={number}"] if (number := fit_number(run.environment.get("parallel"))) else []),
        *(["--disable-vad"] if run.environment.get("disable_vad") is True else []),
    )

    def build(names: list[str], _often: int) -> Command:
        turns = sorted(int(name.removeprefix("turn-")) for name in names)
        return Command(argv=(*fixed, f"--only-turns={','.join(map(str, turns))}"))

    return batch_commands(request.attempts, lambda case: shaped(case, "turn name", TURN), build, NOTES)
