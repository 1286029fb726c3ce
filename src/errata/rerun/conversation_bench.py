"""conversation-bench: what was not judged is judged again; a turn is repeated only in a rehydrated run.

In a rehydrated run each turn is a session of its own. A recorded turn without a verdict needs no new session at all.
"""

from collections.abc import Callable, Sequence

from errata.rerun.plan import (
    MODEL,
    NOT_JUDGED,
    Command,
    PlanNote,
    RerunAttempt,
    RerunPlan,
    RerunRequest,
    UnfitError,
    all_by_hand,
    batch_commands,
    fit,
    fit_number,
    shaped,
)
from errata.text.lazy_regex import lazy_regex

TURN = lazy_regex(r"turn-[0-9]{1,6}")
REHYDRATED = "rehydrated"
CHECKOUT = PlanNote("run_in_checkout", ("audio-arena",))
NOTES = (CHECKOUT, PlanNote("service_not_in_log"), PlanNote("new_run"))
JUDGE_NOTES = (CHECKOUT, PlanNote("judge_only"))

Maker = Callable[[RerunRequest, Sequence[RerunAttempt]], RerunPlan]


def plan(request: RerunRequest) -> RerunPlan:
    unjudged = [attempt for attempt in request.attempts if is_only_unjudged(attempt)]
    others = [attempt for attempt in request.attempts if not is_only_unjudged(attempt)]
    return _joined(_planned(_judge, request, unjudged), _planned(_run, request, others))


def is_only_unjudged(attempt: RerunAttempt) -> bool:
    """The turn took place and has no verdict."""
    return attempt.execution == "completed" and (attempt.why == NOT_JUDGED or attempt.signal == "no_verdict")


def _planned(make: Maker, request: RerunRequest, attempts: Sequence[RerunAttempt]) -> RerunPlan:
    try:
        return make(request, attempts) if attempts else RerunPlan()
    except UnfitError as problem:
        return all_by_hand(attempts, problem)


def _judge(request: RerunRequest, attempts: Sequence[RerunAttempt]) -> RerunPlan:
    run = request.run
    folder = f"runs/{fit(run.suite, 'benchmark')}/{fit(run.native_id, 'run folder')}"
    judge = next((one.name for one in run.scorers if one.kind == "judge"), "")
    fixed = (
        *("uv", "run", "audio-arena", "judge", folder),
        *([f"--judge={fit(judge, 'judge')}"] if judge else []),
    )
    whole = all(attempt.why == NOT_JUDGED for attempt in attempts) and not request.others.scored

    def build(names: list[str], _often: int) -> Command:
        return Command(argv=fixed if whole else (*fixed, _only(names)), purpose="judge")

    return batch_commands(attempts, _turn, build, JUDGE_NOTES)


def _run(request: RerunRequest, attempts: Sequence[RerunAttempt]) -> RerunPlan:
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
        return Command(argv=(*fixed, _only(names)))

    return batch_commands(attempts, _turn, build, NOTES)


def _turn(case: str) -> str:
    return shaped(case, "turn name", TURN)


def _only(names: Sequence[str]) -> str:
    turns = sorted(int(name.removeprefix("turn-")) for name in names)
    return f"--only-turns={','.join(map(str, turns))}"


def _joined(first: RerunPlan, second: RerunPlan) -> RerunPlan:
    return RerunPlan(
        commands=(*first.commands, *second.commands),
        by_hand=(*first.by_hand, *second.by_hand),
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
    )
