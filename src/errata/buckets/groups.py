"""Failures that show the very same are a unit; units that belong together are a group, new or a known bucket's."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from errata.buckets.failing import Failing
from errata.buckets.likeness import Block
from errata.buckets.symptoms import Symptom, symptom_of
from errata.model import Bucket


class Unit(NamedTuple):
    symptom: Symptom
    failures: list[Failing]

    @property
    def block(self) -> Block:
        return (self.symptom.suite, self.symptom.owner, "scoring" if self.symptom.scoring else "")

    @property
    def words(self) -> tuple[str, ...]:
        symptom = self.symptom
        return (*symptom.words, f"@{symptom.case}") if symptom.case and symptom.words else symptom.words

    @property
    def is_compared(self) -> bool:
        """Its key does not say all, and it has words."""
        return self.symptom.kind == "text" and bool(self.symptom.words)


def units_of(failures: Iterable[Failing]) -> list[Unit]:
    """The most frequent first, and in an order that hangs on nothing but what they show."""
    found: dict[Symptom, list[Failing]] = {}
    for failing in failures:
        found.setdefault(symptom_of(failing), []).append(failing)
    return sorted((Unit(*pair) for pair in found.items()), key=lambda unit: (-len(unit.failures), unit.symptom))


class Group:
    """While it is being gathered."""

    def __init__(self, suite: str, owner: str, bucket: Bucket | None = None) -> None:
        self.suite, self.owner, self.bucket = suite, owner, bucket
        self.failures: list[Failing] = []
        self.followers: list[Failing] = []
        self.keys: Counter[str] = Counter(dict.fromkeys(bucket.keys, 0) if bucket else {})
        """Key → how many failures of this time show it."""
        self.shapes: Counter[str] = Counter(dict.fromkeys(bucket.words, 0) if bucket else {})
        self.signals: set[str] = set()

    def take(self, unit: Unit) -> None:
        self.failures += unit.failures
        self.note(unit)
        self.keys[unit.symptom.key] += len(unit.failures)

    def note(self, unit: Unit) -> None:
        """What it looks like, apart from its key."""
        if unit.symptom.shape:
            self.shapes[unit.symptom.shape] += len(unit.failures)
        if unit.symptom.signal:
            self.signals.add(unit.symptom.signal)
