"""The whole report about a run in a few sentences: who has to answer for what."""

from collections import Counter
from collections.abc import Sequence

from errata.model import StoredRun
from errata.model.output.report.run import Failure
from errata.report.parts import named, plural
from errata.runs.without_failures import harness_says, told_without_failures, untold_of

CASES = 4


def answer_of(stored: StoredRun, failures: Sequence[Failure], *, unavailable: bool) -> str:
    if not failures:
        return f"{told_without_failures(stored)}."
    if unavailable:
        return (
            "The run was unavailable: every case ended in the same error. It says nothing about the model; repeat it."
        )
    untold = untold_of(stored)
    mine = sum(one.owner == "model" for one in failures)
    parts = [f"The model has {mine} of the {plural(len(failures), 'failure')} to answer for."]
    parts += filter(None, (_machinery(failures), _gaps(failures), _ours(failures), _back(failures), _others(failures)))
    rest = plural(untold, "more was measured, but is", "more were measured, but are")
    parts += [f"{rest} not in the log: {harness_says(stored.run)}."] if untold else []
    return " ".join(parts)


def _machinery(failures: Sequence[Failure]) -> str:
    members = [one for one in failures if one.machinery]
    owners = Counter(one.owner for one in members)
    told = ", ".join(
        f"{owner} {often}" for owner, often in sorted(owners.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    return f"{len(members)} {'says' if len(members) == 1 else 'say'} nothing about it ({told})." if members else ""


def _gaps(failures: Sequence[Failure]) -> str:
    cases = [one.case for one in failures if one.label == "KNOWN_GAP"]
    return f"{_are(len(cases), 'a known gap', 'known gaps')}: {named(cases, CASES)}." if cases else ""


def _ours(failures: Sequence[Failure]) -> str:
    ours = [one for one in failures if one.owner in ("grader", "task") and one.label != "KNOWN_GAP"]
    verb = "points" if len(ours) == 1 else "point"
    return f"{len(ours)} {verb} to the eval itself: {named([one.case for one in ours], CASES)}." if ours else ""


def _back(failures: Sequence[Failure]) -> str:
    back = [one.case for one in failures if one.repeat.should_be_gone]
    return f"{len(back)} should be gone by what was done before: {named(back, CASES)}." if back else ""


def _others(failures: Sequence[Failure]) -> str:
    """What nobody knows the owner of, and what ran into a limit."""
    unknown, limits = (sum(one.owner == owner for one in failures) for owner in ("unknown", "budget"))
    told = [f"{limits} ran into a limit."] if limits else []
    return " ".join([*told, f"Of {unknown} nobody knows yet whose it is."] if unknown else told)


def _are(count: int, one: str, many: str) -> str:
    return f"1 is {one}" if count == 1 else f"{count} are {many}"
