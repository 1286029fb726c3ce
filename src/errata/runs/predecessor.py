"""The predecessor of a model: the next older version of the same name, by the numbers in both."""

from typing import NamedTuple

from errata.memory.spelling import model_name
from errata.model import Run, StoredRun
from errata.model.times import moment_of
from errata.runs.reports import began
from errata.store.database import Store
from errata.store.runs import all_runs
from errata.text.lazy_regex import lazy_regex

_PART = lazy_regex(r"([a-z]*?)(\d{1,3})?$")
"""A word, a version, or a word with its version: `nimbus`, `2`, `v3`. Longer numbers are dates, `72b` is a size."""


class ModelVersion(NamedTuple):
    vendor: str
    family: tuple[str, ...]
    """The words of the name."""
    version: tuple[int, ...]


def version_of(model: str) -> ModelVersion:
    """`acme/nimbus-2.1-coder` is version 2.1 of the family nimbus, coder."""
    name = model_name(model)
    words: list[str] = []
    version: list[int] = []
    for part in name.base.split("-"):
        if part.isdigit() and len(part) > 3:
            continue
        match = _PART.fullmatch(part)
        words += [part] if match is None else [match[1]] if match[1] else []
        version += [int(match[2])] if match is not None and match[2] else []
    return ModelVersion(name.vendor, tuple(words), tuple(version))


def predecessor_of(stored: StoredRun, store: Store) -> StoredRun | None:
    """The newest run of the newest older version, with the same suite, agent and variant."""
    own = version_of(stored.run.subject.model)
    if not (stored.run.suite and own.family and own.version):
        return None
    older = [
        (version.version, moment_of(began(other)), other.pk, other)
        for other in all_runs(store, suite=stored.run.suite)
        if other.run.excluded is None
        and _is_same_setting(other.run, stored.run)
        and (version := version_of(other.run.subject.model))[:2] == own[:2]
        and () < version.version < own.version
    ]
    return max(older)[-1] if older else None


def _is_same_setting(other: Run, run: Run) -> bool:
    return (other.subject.agent, other.conditions) == (run.subject.agent, run.conditions)
