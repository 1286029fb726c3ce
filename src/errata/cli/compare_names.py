"""What cases and columns are called on the page of a comparison: as short as they can be told apart."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from errata.cli.fitting import WIDTH, columns, cut, fold
from errata.cli.output import wash
from errata.pipeline.comparing import Comparison

NARROW = 5
"""Cases whose names are no wider than this stand side by side."""
GAP = 2
LINES = 6


class CaseNames(msgspec.Struct, frozen=True):
    word: str
    """What a case is called here: `turn`."""
    short: dict[str, str]
    """Case → `24` where all are called `turn-24` and the like, else its name."""
    numbered: bool

    @property
    def narrow(self) -> bool:
        return max(map(columns, self.short.values()), default=0) <= NARROW

    def listed(self, cases: Sequence[str], room: int, *, lines: int = LINES) -> list[str]:
        """Names that fit some lines of so many columns, and how many more there are."""
        joint = " " if self.numbered else ", "
        return _within([self.short[case] for case in cases], joint, room, lines)

    def told(self, cases: Sequence[str]) -> str:
        """`turn 24`, `turns 11 and 22`, or the names alone."""
        names = [self.short[case] for case in cases]
        joined = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
        return f"{self.word}{'s' if len(names) > 1 else ''} {joined}" if self.numbered else joined


def names_of(comparison: Comparison, word: str) -> CaseNames:
    names = {case: wash(facts.name) for case, facts in comparison.cases.items()}
    found = {case: _NUMBERED.fullmatch(name) for case, name in names.items()}
    prefixes = {match[1] if match else None for match in found.values()}
    if len(prefixes) == 1 and None not in prefixes:
        (prefix,) = prefixes
        called = str(prefix).rstrip("-_ /.#").rpartition("/")[2] or word
        return CaseNames(called, {case: match[2] for case, match in found.items() if match}, True)
    return CaseNames(word, names, False)


_NUMBERED = re.compile(r"(|.*[^0-9])([0-9]+)")


class Heads(msgspec.Struct, frozen=True):
    """How columns are headed: by label where there is room, else by number, with a legend."""

    texts: tuple[str, ...]
    legend: str = ""


def heads_of(labels: Sequence[str], room: int) -> Heads:
    if sum(columns(label) + GAP for label in labels) <= room:
        return Heads(tuple(labels))
    numbers = tuple(str(number) for number in range(1, len(labels) + 1))
    told = " · ".join(f"{number} {label}" for number, label in zip(numbers, labels, strict=True))
    return Heads(numbers, f"columns: {told}")


def _within(names: Iterable[str], joint: str, room: int, most: int) -> list[str]:
    """Broken between names; a name that is wider than a line is cut."""
    lines: list[str] = []
    current = ""
    left = list(names)
    while left:
        name = cut(left[0], room)
        longer = f"{current}{joint}{name}" if current else name
        if columns(longer) > room:
            lines, current = [*lines, current + joint.rstrip()], ""
            if len(lines) == most:
                break
            continue
        current = longer
        left.pop(0)
    if left:
        more = f" and {len(left):,} more"
        return [*lines[:-1], *fold(lines[-1].rstrip(",") + more, room)]
    return [*lines, current] if current else lines


