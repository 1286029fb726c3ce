"""The report of a dataset: evalscope's own numbers, and how many samples it asked for."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from errata.model import Reported, SourceRef
from errata.sources.shared.values import as_text, count, known, mapping, number, rest, sequence, text

_OLD_NAME = re.compile(r"(?P<how>mean|pass_at_k|pass_hat_k|vote_at_k)_(?P<name>.+)")
_METRIC = ("identity", "name", "score", "num", "categories", "macro_score", "semantics")


class Measure(NamedTuple):
    """One of the metrics of a report."""

    name: str
    how: str
    """How the samples were made one number."""
    dimensions: dict[str, Any]
    data: dict[str, Any]
    ref: SourceRef


class Report:
    def __init__(self, data: dict[str, Any], ref: SourceRef) -> None:
        self.data = data
        self.ref = ref
        self.measures = [
            _measure(mapping(one), ref.below("metrics", at)) for at, one in enumerate(sequence(data.get("metrics")))
        ]

    @property
    def primary(self) -> Measure | None:
        """What the report calls so; before it did, its first metric."""
        wanted = mapping(self.data.get("primary_metric_identity"))
        if wanted:
            return next((one for one in self.measures if mapping(one.data.get("identity")) == wanted), None)
        return None if text(self.data.get("primary_metric_unavailable_reason")) else next(iter(self.measures), None)

    def asked(self, subset: str) -> int | None:
        """How many samples were to be made of a subset."""
        told = mapping(mapping(self._execution.get("subsets")).get(subset))
        return count(told.get("requested"))

    def errored(self, subset: str) -> int:
        return count(mapping(mapping(self._execution.get("subsets")).get(subset)).get("errored")) or 0

    def measured(self, subset: str) -> int:
        return count(mapping(mapping(self._execution.get("subsets")).get(subset)).get("succeeded")) or 0

    @property
    def measured_in_all(self) -> int | None:
        return count(self._execution.get("succeeded"))

    @property
    def asked_in_all(self) -> int | None:
        return count(self._execution.get("requested"))

    @property
    def _execution(self) -> dict[str, Any]:
        return mapping(self.data.get("execution_summary"))

    def reported(self, measured: list[str]) -> Iterator[Reported]:
        """`measured` are the names of the values that samples have: only of these a number can be made again."""
        primary = self.primary
        for one in self.measures:
            made = _reported(one, measured)
            yield Reported(
                name=one.name,
                metric=made.metric,
                reducer=made.reducer,
                filter=_worded(one.dimensions) if made.metric != "mean" or not made.reducer else "",
                value=number(one.data.get("score")),
                n=count(one.data.get("num")),
                headline=one is primary,
                extra=rest(one.data, _METRIC)
                | known(macro_score=one.data.get("macro_score"), semantics=one.data.get("semantics")),
                ref=one.ref,
            )
            yield from _of_subsets(one, made)


class _How(NamedTuple):
    metric: str
    reducer: str


def _measure(data: dict[str, Any], ref: SourceRef) -> Measure:
    identity = mapping(data.get("identity"))
    if identity:
        name, how = text(identity.get("name")), text(identity.get("aggregation"))
        return Measure(name, how, mapping(identity.get("dimensions")), data, ref)
    # once both stood in one word
    told = _OLD_NAME.fullmatch(text(data.get("name")))
    return Measure(told["name"] if told else text(data.get("name")), told["how"] if told else "", {}, data, ref)


def _reported(one: Measure, measured: list[str]) -> _How:
    k = count(one.dimensions.get("k"))
    if measured and one.name not in measured:
        return _How(one.name, "")
    if one.how == "mean":
        return _How("mean", "")
    reducers = {"pass_at_k": f"pass_at_{k}", "pass_hat_k": f"pass_k_{k}"}
    return _How("mean", reducers[one.how]) if k and one.how in reducers else _How(one.how or one.name, "")


def _of_subsets(one: Measure, made: _How) -> Iterator[Reported]:
    categories = [mapping(category) for category in sequence(one.data.get("categories"))]
    for at, category in enumerate(categories):
        subsets = [mapping(subset) for subset in sequence(category.get("subsets"))]
        place = one.ref.below("categories", at)
        beside = rest(category, ("name", "subsets"))
        for number_, subset in enumerate(subsets):
            yield Reported(
                name=one.name,
                metric=made.metric,
                reducer=made.reducer,
                filter=" · ".join((*map(as_text, sequence(category.get("name"))), text(subset.get("name")))),
                value=number(subset.get("score")),
                n=count(subset.get("num")),
                extra=rest(subset, ("name", "score", "num")) | known(category=beside),
                ref=place.below("subsets", number_),
            )


def _worded(dimensions: dict[str, Any]) -> str:
    return ", ".join(f"{name}={as_text(value)}" for name, value in dimensions.items())
