"""promptfoo: `retry` for what ended in an error, else the tests by their descriptions and the column by its names.

A column of an evaluation, one provider with one prompt, is a run.
"""

import re

from errata.model import Run
from errata.rerun.batches import repeated
from errata.rerun.fit import MODEL, WORDS, UnfitError, exactly, fit, shaped
from errata.rerun.plan import ByHand, Command, Plan, Request, Wanted, all_by_hand, mapping, told

ERROR = "ERROR"
EVAL_ID = re.compile(r"eval-[A-Za-z0-9][A-Za-z0-9.:_-]{2,80}")
NAMELESS = re.compile(r"input-[0-9a-f]+|.*\[[0-9a-f]+\]")
"""How errata calls a test without a description of its own."""

HERE = "to be run where promptfoo keeps the evaluation; on another machine `promptfoo import` brings it there first"
CONFIG = "to be run in the folder of the configuration; else name it with `--config`"
EVERY_PROMPT = "the prompt has no plain name to choose it by: the tests are asked with every prompt"
ALL_ERRORS = "promptfoo retries every result of the evaluation that ended in an error"
NO_NAME = "the test has no description to choose it by"


def plan(request: Request) -> Plan:
    errors = [one for one in request.wanted if one.native_status == ERROR]
    if len(errors) == len(request.wanted) and not _other_errors(request, errors) and _can_retry(request):
        return Plan(commands=(_retry(request, errors),), notes=(HERE,))
    named = [one for one in request.wanted if not NAMELESS.fullmatch(one.case)]
    nameless = [one for one in request.wanted if NAMELESS.fullmatch(one.case)]
    return _with_nameless(request, _chosen(request.run, named), nameless)


def _can_retry(request: Request) -> bool:
    """Where the log names the evaluation. With `--repeat`, promptfoo 0.121 removes more than it retries."""
    repeats = told(request.run, "runtimeOptions", "repeat")
    once = not (isinstance(repeats, int) and repeats > 1) and all(one.index == 1 for one in request.wanted)
    return once and EVAL_ID.fullmatch(request.run.native_id) is not None


def _with_nameless(request: Request, chosen: Plan, nameless: list[Wanted]) -> Plan:
    can_retry = _can_retry(request)
    errors = [one for one in nameless if can_retry and one.native_status == ERROR]
    rest = tuple(ByHand(one, NO_NAME) for one in nameless if not can_retry or one.native_status != ERROR)
    retry = (_retry(request, errors),) if errors else ()
    notes = (*chosen.notes, *((HERE,) if errors else ()))
    return Plan(commands=(*chosen.commands, *retry), by_hand=(*chosen.by_hand, *rest), notes=notes)


def _retry(request: Request, errors: list[Wanted]) -> Command:
    also = _other_errors(request, errors)
    return Command(
        argv=("promptfoo", "retry", fit(request.run.native_id, "id of the evaluation", EVAL_ID)),
        wanted=tuple(errors),
        also=also,
        also_why=ALL_ERRORS if also else "",
    )


def _other_errors(request: Request, errors: list[Wanted]) -> int:
    """Those of the other columns too, where the evaluation counts them."""
    counted = told(request.run, "stats", "errors")
    known = counted if isinstance(counted, int) else 0
    return max(known - len(errors), request.others.statuses[ERROR])


def _chosen(run: Run, named: list[Wanted]) -> Plan:
    if not named:
        return Plan()
    try:
        provider = f"--filter-providers={exactly([_provider(run)])}"
    except UnfitError as problem:
        return all_by_hand(named, str(problem))
    prompt, notes = _prompt(run)

    def build(names: list[str], often: int) -> Command:
        tests = (f"--repeat={often}", f"--filter-pattern={exactly(names)}")
        return Command(argv=("promptfoo", "eval", "--no-cache", provider, *prompt, *tests))

    return repeated(named, lambda case: shaped(case, "description of the test", WORDS), build, [CONFIG, *notes])


def _provider(run: Run) -> str:
    """The label where it has one: two providers may share an id."""
    found = told(run, "provider")
    named = mapping(found).get("label") or mapping(found).get("id") or found
    return fit(named, "provider", MODEL)


def _prompt(run: Run) -> tuple[tuple[str, ...], list[str]]:
    """Nothing to choose where the evaluation has one prompt only."""
    if "prompt" not in run.variant:
        return (), []
    try:
        return (f"--filter-prompts={exactly([fit(told(run, 'prompt label'), 'prompt', WORDS)])}",), []
    except UnfitError:
        return (), [EVERY_PROMPT]
