"""promptfoo: `retry` for errors, otherwise the tests by description, and provider and prompt by name.

A run is a column of an evaluation: one provider with one prompt.
"""

from errata.model import Run
from errata.rerun.plan import (
    MODEL,
    WORDS,
    ByHand,
    Command,
    PlanNote,
    RerunAttempt,
    RerunPlan,
    RerunRequest,
    UnfitError,
    all_by_hand,
    batch_commands,
    exactly,
    fit,
    log_value,
    mapping,
    shaped,
)
from errata.text.lazy_regex import lazy_regex

ERROR = "ERROR"
EVAL_ID = lazy_regex(r"eval-[A-Za-z0-9][A-Za-z0-9.:_-]{2,80}")
NAMELESS = lazy_regex(r"input-[0-9a-f]+|.*\[[0-9a-f]+\]")
"""errata's name for a test without a description."""

HERE = PlanNote("run_where_stored")


def plan(request: RerunRequest) -> RerunPlan:
    errors = [one for one in request.attempts if one.native_status == ERROR]
    if len(errors) == len(request.attempts) and not _other_errors(request, errors) and _can_retry(request):
        return RerunPlan(commands=(_retry(request, errors),), notes=(HERE,))
    named = [one for one in request.attempts if not NAMELESS.fullmatch(one.case)]
    nameless = [one for one in request.attempts if NAMELESS.fullmatch(one.case)]
    return _with_nameless(request, _chosen(request.run, named), nameless)


def _can_retry(request: RerunRequest) -> bool:
    """If the log names the evaluation. With `--repeat`, promptfoo 0.121 deletes more results than it retries."""
    repeats = log_value(request.run, "runtimeOptions", "repeat")
    once = not (isinstance(repeats, int) and repeats > 1) and all(one.index == 1 for one in request.attempts)
    return once and EVAL_ID.fullmatch(request.run.native_id) is not None


def _with_nameless(request: RerunRequest, chosen: RerunPlan, nameless: list[RerunAttempt]) -> RerunPlan:
    can_retry = _can_retry(request)
    errors = [one for one in nameless if can_retry and one.native_status == ERROR]
    rest = tuple(ByHand(one, "no_description") for one in nameless if not can_retry or one.native_status != ERROR)
    retry = (_retry(request, errors),) if errors else ()
    notes = (*chosen.notes, *((HERE,) if errors else ()))
    return RerunPlan(commands=(*chosen.commands, *retry), by_hand=(*chosen.by_hand, *rest), notes=notes)


def _retry(request: RerunRequest, errors: list[RerunAttempt]) -> Command:
    also = _other_errors(request, errors)
    return Command(
        argv=("promptfoo", "retry", fit(request.run.native_id, "evaluation id", EVAL_ID)),
        attempts=tuple(errors),
        also=also,
        also_why="all_errors" if also else None,
    )


def _other_errors(request: RerunRequest, errors: list[RerunAttempt]) -> int:
    """Includes the other columns, if the evaluation counts them."""
    counted = log_value(request.run, "stats", "errors")
    known = counted if isinstance(counted, int) else 0
    return max(known - len(errors), request.others.statuses[ERROR])


def _chosen(run: Run, named: list[RerunAttempt]) -> RerunPlan:
    if not named:
        return RerunPlan()
    try:
        provider = f"--filter-providers={exactly([_provider(run)])}"
    except UnfitError as problem:
        return all_by_hand(named, problem)
    prompt, notes = _prompt(run)

    def build(names: list[str], often: int) -> Command:
        tests = (f"--repeat={often}", f"--filter-pattern={exactly(names)}")
        return Command(argv=("promptfoo", "eval", "--no-cache", provider, *prompt, *tests))

    return batch_commands(
        named,
        lambda case: shaped(case, "test description", WORDS),
        build,
        [PlanNote("run_in_config_folder"), *notes],
    )


def _provider(run: Run) -> str:
    """Its label, if it has one: two providers may share an id."""
    provider = log_value(run, "provider")
    name = mapping(provider).get("label") or mapping(provider).get("id") or provider
    return fit(name, "provider", MODEL)


def _prompt(run: Run) -> tuple[tuple[str, ...], list[PlanNote]]:
    """No filter if the evaluation has only one prompt."""
    if "prompt" not in run.variant:
        return (), []
    try:
        return (f"--filter-prompts={exactly([fit(log_value(run, 'prompt label'), 'prompt', WORDS)])}",), []
    except UnfitError:
        return (), [PlanNote("every_prompt")]
