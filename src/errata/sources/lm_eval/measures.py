"""What was measured about one document: a check for each measure and each filter, of which one decides."""

from collections.abc import Iterator
from typing import NamedTuple

from errata.model import Check
from errata.model.words import Outcome
from errata.sources.base import Row
from errata.sources.lm_eval.layout import NO_FILTER, NO_MATCH
from errata.sources.lm_eval.results import Measure, Plan, Results
from errata.sources.shared.facts import outcome_of, status_of
from errata.sources.shared.values import known, number, sequence, text

ROW = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash",
     "prompt_hash", "target_hash")
)  # fmt: skip


class Filtered(NamedTuple):
    """One row: the answers as one filter took them, and what they were worth."""

    filter: str
    row: Row

    @property
    def metrics(self) -> list[str]:
        """Named in newer rows; in older ones all that is nothing else."""
        told = [name for name in map(text, sequence(self.row.data.get("metrics"))) if name in self.row.data]
        return told or [name for name in self.row.data if name not in ROW]

    @property
    def found_nothing(self) -> bool:
        taken = self.row.data.get("filtered_resps")
        return NO_MATCH in (taken if isinstance(taken, list) else [taken])


def tries_of(rows: tuple[Row, ...], filters: list[str]) -> list[list[Filtered]]:
    """A filter that comes again is the same document once more. Before rows named their filter, their order told it."""
    tries: list[list[Filtered]] = []
    for row in rows:
        named = text(row.data.get("filter"))
        for tried in tries:
            kind = named or (filters[len(tried)] if len(tried) < len(filters) else "")
            if kind and kind not in [one.filter for one in tried]:
                tried.append(Filtered(kind, row))
                break
        else:
            tries.append([Filtered(named or (filters[0] if filters else NO_FILTER), row)])
    return tries


def primary_of(headline: Measure | None, tried: list[Filtered]) -> str:
    """The name of the check that decides: the headline's, else the first of these rows."""
    measured = [(name, one.filter) for one in tried for name in one.metrics]
    for name, kind in measured:
        if headline is not None and name == headline.name and headline.filter in ("", kind):
            return key_of(name, kind)
    return key_of(*measured[0]) if measured else ""


def key_of(name: str, kind: str) -> str:
    return f"{name},{kind}"


def checks_of(results: Results, task: str, tried: list[Filtered], primary: str) -> Iterator[Check]:
    measured = [(one, name) for one in tried for name in one.metrics]
    for order, (one, name) in enumerate(measured):
        told = one.row.data.get(name)
        value = told if isinstance(told, bool) else number(told)
        lower, key = results.lower_is_better(task, name), key_of(name, one.filter)
        how = results.averages(Plan(task, (task,)), Measure(name, one.filter, None, None))
        yield Check(
            name=key,
            # what is no mean of the rows, such as a perplexity, has no row that passes or fails
            status=status_of(_grade(value, lower=lower)) if how == "mean" and _is_one(told) else "not_applicable",
            scorer=name,
            order=order,
            value=value,
            lower_is_better=lower,
            is_primary=key == primary,
            counts=key == primary,
            reason_code="no_match" if one.found_nothing else "",
            extra=known(value=told) if value is None else {},
            ref=one.row.ref.below(name),
        )


def value_of(check: Check | None) -> float | None:
    """As lm-eval averages it."""
    return float(check.value) if check is not None and isinstance(check.value, float | bool) else None


def outcome(check: Check | None) -> Outcome:
    if check is None or check.status == "not_applicable":
        return "none"
    return outcome_of(_grade(value_of(check), lower=check.lower_is_better))


def _grade(value: float | None, *, lower: bool) -> float | None:
    return None if value is None else 1 - value if lower else float(value)


def _is_one(value: object) -> bool:
    """Some measures keep of each row what they are computed from, such as a pair of texts."""
    return not isinstance(value, list | dict)
