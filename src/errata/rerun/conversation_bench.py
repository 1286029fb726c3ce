"""conversation-bench: only a rehydrated run can repeat a turn, because there each turn is a session of its own."""

import re

from errata.rerun.batches import repeated
from errata.rerun.fit import MODEL, UnfitError, fit, fit_number, shaped
from errata.rerun.plan import Command, Plan, Request

TURN = re.compile(r"turn-[0-9]{1,6}")
REHYDRATED = "rehydrated"
CONTINUOUS = (
    "one continuous conversation: a turn can't be had again without all that went before it; "
    "`--rehydrate --only-turns` would put reference answers in its place, which is another measurement"
)
NOTES = (
    "to be run in a checkout of audio-arena; add `--service` where the model needs one: no log tells it",
    "it makes a new run of these turns alone, to be judged like the first",
)


def plan(request: Request) -> Plan:
    run = request.run
    if run.variant.get("mode") != REHYDRATED:
        raise UnfitError(CONTINUOUS)
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

    return repeated(request.wanted, lambda case: shaped(case, "name of the turn", TURN), build, NOTES)
