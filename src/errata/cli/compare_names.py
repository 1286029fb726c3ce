"""What cases and columns are called on the page of a comparison: as short as they can be told apart."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from errata.cli.fitting import WIDTH, columns, cut
from errata.cli.output import put, wash
from errata.compare.comparison import Comparison

NARROW = 5
"""Cases whose names are no wider than this stand side by side."""
GAP = 2
LINES = 6
COLUMNS = "columns  "


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
    numbers = {case: match[2] for case, match in found.items() if match}
    prefixes = {match[1] for match in found.values() if match}
    if len(prefixes) == 1 and len(set(numbers.values())) == len(names):
        return CaseNames(prefixes.pop() or word, numbers, True)
    return CaseNames(word, names, False)


# `turn-24`, `test-006`, `Q7`, `12`
_NUMBERED = re.compile(r"([A-Za-z]{0,12})[-_ #]?([0-9]+)")


def shortened(label: str, width: int) -> str:
    """Cut, but for the number that tells it from other runs of the same model."""
    name, mark, number = label.rpartition(" #")
    return f"{cut(name, width - len(mark + number))}{mark}{number}" if mark else cut(label, width)


class Heads(msgspec.Struct, frozen=True):
    """How columns are headed: by label where there is room, else by number, with a legend."""

    texts: tuple[str, ...]
    legend: tuple[str, ...] = ()


def heads_of(labels: Sequence[str], room: int) -> Heads:
    if sum(columns(label) + GAP for label in labels) <= room:
        return Heads(tuple(labels))
    numbers = tuple(str(number) for number in range(1, len(labels) + 1))
    return Heads(numbers, tuple(f"{number} {label}" for number, label in zip(numbers, labels, strict=True)))


def put_side_by_side(parts: Sequence[str], label: str = "") -> None:
    """As many on a line as fit, behind a label."""
    hang = columns(label)
    line = label
    for part in parts:
        longer = f"{line} · {part}" if columns(line) > hang else line + part
        if columns(line) > hang and columns(longer) > WIDTH:
            put(line)
            longer = " " * hang + part
        line = longer
    put(line, hang=hang + 2)


def _within(names: Iterable[str], joint: str, room: int, most: int) -> list[str]:
    """Broken between names; a name that is wider than a line is cut."""
    lines: list[str] = []
    current = ""
    left = list(names)
    while left:
        more = len(" and 1,000 more") if len(lines) + 1 == most and len(left) > 1 else 1
        name = cut(left[0], room - more)
        longer = f"{current}{joint}{name}" if current else name
        if columns(longer) + more <= room or not current:
            current = longer
            left.pop(0)
        elif len(lines) + 1 == most:
            return [*lines, f"{current} and {len(left):,} more"]
        else:
            lines, current = [*lines, current + joint.rstrip()], ""
    return [*lines, current] if current else lines
