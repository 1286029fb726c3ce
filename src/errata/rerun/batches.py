"""Many cases in few commands: cases with equally many attempts share one, up to the length that a system accepts."""

from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec

from errata.rerun.fit import UnfitError
from errata.rerun.plan import ByHand, Command, PlanNote, RerunAttempt, RerunPlan
from errata.text.outgoing import for_user

LONGEST = 100_000
"""Bytes of a command. Linux accepts 128 KiB in one argument, and some systems little more than that in total."""
ESCAPED = ".+ "
"""Characters that take up to two more in a regular expression."""

Build = Callable[[list[str], int], Command]
"""Builds a command, without its attempts, from case names and the number of attempts of each."""


def batch_commands(
    attempts: Sequence[RerunAttempt],
    shaped_case: Callable[[str], str],
    build: Build,
    notes: Sequence[PlanNote] = (),
) -> RerunPlan:
    """One command for all cases where possible; cases with unfit names are left to the user."""
    by_name: dict[str, list[RerunAttempt]] = {}
    by_hand: list[ByHand] = []
    for attempt in attempts:
        try:
            by_name.setdefault(shaped_case(attempt.case), []).append(attempt)
        except UnfitError as problem:
            by_hand.append(ByHand(attempt, problem.why, problem.about))
    for name in _secrets(by_name):
        by_hand += [ByHand(attempt, "field_like_secret", "case name") for attempt in by_name.pop(name)]
    commands: list[Command] = []
    for often, names in sorted(_equally_often(by_name).items()):
        for part in _parts(names, often, build):
            covered = tuple(attempt for name in part for attempt in by_name[name])
            commands.append(msgspec.structs.replace(build(part, often), attempts=covered))
    return RerunPlan(commands=tuple(commands), by_hand=tuple(by_hand), notes=tuple(notes) if commands else ())


def _secrets(names: Collection[str]) -> list[str]:
    together = "\n".join(names)
    return [] if for_user(together) == together else [name for name in names if for_user(name) != name]


def _equally_often(attempts: dict[str, list[RerunAttempt]]) -> dict[int, list[str]]:
    """A harness repeats every case of a command equally often."""
    groups: dict[int, list[str]] = {}
    for name, of_case in attempts.items():
        groups.setdefault(len(of_case), []).append(name)
    return groups


def _parts(names: list[str], often: int, build: Build) -> Iterator[list[str]]:
    single, double = (len(build(names[:1] * count, often).line.encode()) for count in (1, 2))
    fixed, joint = 2 * single - double, double - single - len(names[0])
    part: list[str] = []
    size = fixed
    for name in names:
        more = len(name) + joint + 2 * sum(map(name.count, ESCAPED))
        if part and size + more > LONGEST:
            yield part
            part, size = [], fixed
        part.append(name)
        size += more
    if part:
        yield part
