"""Many cases as few commands: those that are repeated equally often together, none longer than a system takes."""

from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec

from errata.rerun.fit import UnfitError
from errata.rerun.plan import ByHand, Command, Plan, Wanted
from errata.text.redact import redact

LONGEST = 100_000
"""Bytes of a command. Linux takes 128 KiB in one argument, and some systems little more than that in all."""
ESCAPED = ".+ "
"""What a regular expression spells with up to two characters more."""

Build = Callable[[list[str], int], Command]
"""From the names of cases and how often each is to be repeated to a command, which lacks only its attempts."""


def repeated(
    wanted: Sequence[Wanted], shaped_case: Callable[[str], str], build: Build, notes: Sequence[str] = ()
) -> Plan:
    """One command for all cases where that is possible; those that are not fit for it are left to the user."""
    attempts: dict[str, list[Wanted]] = {}
    by_hand: list[ByHand] = []
    for one in wanted:
        try:
            attempts.setdefault(shaped_case(one.case), []).append(one)
        except UnfitError as problem:
            by_hand.append(ByHand(one, str(problem)))
    for name in _secrets(attempts):
        by_hand += [ByHand(one, "the name of the case looks like a secret") for one in attempts.pop(name)]
    commands: list[Command] = []
    for often, names in sorted(_equally_often(attempts).items()):
        for part in _parts(names, often, build):
            mine = tuple(one for name in part for one in attempts[name])
            commands.append(msgspec.structs.replace(build(part, often), wanted=mine))
    return Plan(commands=tuple(commands), by_hand=tuple(by_hand), notes=tuple(notes) if commands else ())


def _secrets(names: Collection[str]) -> list[str]:
    together = "\n".join(names)
    return [] if redact(together) == together else [name for name in names if redact(name) != name]


def _equally_often(attempts: dict[str, list[Wanted]]) -> dict[int, list[str]]:
    """A harness repeats every case of a command as often as the others."""
    groups: dict[int, list[str]] = {}
    for name, mine in attempts.items():
        groups.setdefault(len(mine), []).append(name)
    return groups


def _parts(names: list[str], often: int, build: Build) -> Iterator[list[str]]:
    one, two = (len(build(names[:1] * count, often).line.encode()) for count in (1, 2))
    fixed, joint = 2 * one - two, two - one - len(names[0])
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
