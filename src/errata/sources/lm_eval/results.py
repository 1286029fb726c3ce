"""The results document: its tasks and groups, and which of them become a run.

A group with one averaged number is one run, and its tasks are the categories of its cases. A group without a number is
only a list, and each of its tasks is a run.
"""

from collections.abc import Iterator
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

from errata.model import SourceRef
from errata.sources.shared.values import count, mapping, number, sequence, text

STDERR = "_stderr"
_NOT_MEANS = frozenset(
    ("perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte", "bleu", "chrf", "ter", "f1", "mcc",
     "matthews_corrcoef", "brier_score", "weighted_perplexity")
)  # fmt: skip
NEAR = 1e-6


class TaskMeasure(NamedTuple):
    """One number of a task or a group."""

    name: str
    filter: str
    value: float | None
    stderr: float | None

    @property
    def key(self) -> str:
        return f"{self.name},{self.filter}" if self.filter else self.name


class TaskPlan(NamedTuple):
    """What becomes a run: a task, or a group with its tasks."""

    name: str
    tasks: tuple[str, ...]

    @property
    def is_group(self) -> bool:
        return self.tasks != (self.name,)


class ResultsDocument:
    def __init__(self, document: dict[str, Any], ref: SourceRef) -> None:
        self.document = document
        self.ref = ref
        self._measures_by_name: dict[str, list[TaskMeasure]] = {}
        self.entries: dict[str, dict[str, Any]] = {
            name: mapping(entry)
            for part in ("groups", "results")
            for name, entry in mapping(document.get(part)).items()
        }

    @cached_property
    def _members(self) -> dict[str, list[str]]:
        listed = mapping(self.document.get("group_subtasks")).items()
        return {name: [text(one) for one in sequence(members) if text(one)] for name, members in listed if members}

    def plans(self) -> list[TaskPlan]:
        """In the order of the document, without those that are part of another."""
        within = {one for name, members in self._members.items() for one in members if one != name}
        plans = [plan for name in self.entries if name not in within for plan in self._expand(name, frozenset())]
        return plans or [TaskPlan(name, (name,)) for name in self.entries]

    def _expand(self, name: str, above: frozenset[str]) -> Iterator[TaskPlan]:
        members = [one for one in self._members.get(name, ()) if one not in above and one != name]
        if not members:
            yield TaskPlan(name, (name,))
        elif self.measures(name):
            yield TaskPlan(name, tuple(dict.fromkeys(self._tasks_below(name, frozenset()))))
        else:
            for member in members:
                yield from self._expand(member, above | {name})

    def _tasks_below(self, name: str, above: frozenset[str]) -> Iterator[str]:
        members = [one for one in self._members.get(name, ()) if one not in above and one != name]
        if not members:
            yield name
        for member in members:
            yield from self._tasks_below(member, above | {name})

    def measures(self, name: str) -> list[TaskMeasure]:
        """The first one is the headline."""
        if name not in self._measures_by_name:
            self._measures_by_name[name] = self._measures(name)
        return self._measures_by_name[name]

    def _measures(self, name: str) -> list[TaskMeasure]:
        entry = self.entries.get(name, {})
        measures = []
        for key, value in entry.items():
            measure, _, kind = key.partition(",")
            if measure.endswith(STDERR) or (number(value) is None and value not in ("N/A", "NaN")):
                continue
            if measure in ("sample_len", "samples") and not kind:
                continue
            error = entry.get(f"{measure}{STDERR},{kind}" if kind else f"{measure}{STDERR}")
            measures.append(TaskMeasure(measure, kind, number(value), number(error)))
        return measures

    def config(self, task: str) -> dict[str, Any]:
        return mapping(mapping(self.document.get("configs")).get(task))

    def filters(self, task: str) -> list[str]:
        return [text(mapping(one).get("name")) for one in sequence(self.config(task).get("filter_list"))]

    def size(self, task: str) -> int | None:
        sizes = mapping(mapping(self.document.get("n-samples")).get(task))
        return count(sizes.get("effective")) if sizes else count(self.entries.get(task, {}).get("sample_len"))

    def lower_is_better(self, task: str, measure: str) -> bool:
        return mapping(mapping(self.document.get("higher_is_better")).get(task)).get(measure) is False

    def averages(self, plan: TaskPlan, measure: TaskMeasure) -> str:
        """How the number was computed: `mean` of all samples, otherwise a description."""
        if not plan.is_group:
            return self._aggregation(plan.name, measure.name)
        parts = [(self._value(task, measure.key), self.size(task)) for task in plan.tasks]
        values = [value for value, _ in parts if value is not None]
        total_size = sum(size or 0 for _, size in parts)
        if measure.value is None or len(values) < len(parts) or not total_size:
            return "mean"
        if abs(sum((value or 0) * (size or 0) for value, size in parts) / total_size - measure.value) < NEAR:
            return "mean"
        return "mean of the means of its tasks" if abs(fmean(values) - measure.value) < NEAR else measure.name

    def _aggregation(self, task: str, measure: str) -> str:
        for metric in map(mapping, sequence(self.config(task).get("metric_list"))):
            if metric.get("metric") == measure and text(metric.get("aggregation")):
                return text(metric["aggregation"])
        return measure if measure in _NOT_MEANS else "mean"

    def _value(self, task: str, key: str) -> float | None:
        return next((measure.value for measure in self.measures(task) if measure.key == key), None)
