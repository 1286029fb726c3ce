"""aider's leaderboards: a YAML list with one flat record per run, without exercises."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from errata.model import CodeVersion, Item, Reported, Run, SourceInfo, SourceRef, Subject, Unreadable
from errata.sources.aider import NAME, SUITE
from errata.sources.base import Row, convert_each, number_or_none, text_file, unreadable
from errata.sources.shared.values import non_empty
from errata.text.lazy_regex import lazy_regex

_FIELD = lazy_regex(r"^(?P<mark>- |  )(?P<key>\w+):(?:\s+(?P<value>.*))?$")
_COMMENT = lazy_regex(r"(?<!\s)\s++#.*$")
_RATE = lazy_regex(r"^pass_rate_(?P<try>\d+)$")
FEW_CASES = 1_000
"""With more, two counts may have one rate."""
_PASSES = lazy_regex(r"^pass_num_\d+$")
_CASES = ("test_cases", "total_tests")
_HOMES = frozenset(["dirname", "model", "edit_format", "commit_hash", "reasoning_effort", "date"])


def read(path: Path) -> Iterator[Item]:
    yield from convert_each(_records(path), lambda row: _run(row, path), source=NAME)


def _records(path: Path) -> Iterator[Row | Unreadable]:
    """A parser for the subset of YAML in these files: one line per field, no nesting."""
    record: dict[str, str] = {}
    begin = 0
    for number, line in enumerate((text_file(path) or "").splitlines(), start=1):
        field = _FIELD.match(line)
        if field is None:
            if line.strip() and not line.lstrip().startswith("#"):
                ref = SourceRef(file=path.name, line=number)
                yield unreadable(NAME, ref, "not a field of a record", excerpt=line)
            continue
        if field["mark"] == "- ":
            if record:
                yield Row(record, SourceRef(file=path.name, line=begin))
            record, begin = {}, number
        record[field["key"]] = _value(field["value"] or "")
    if record:
        yield Row(record, SourceRef(file=path.name, line=begin))


def _value(written: str) -> str:
    for quote in ('"', "'"):
        if written.startswith(quote):
            return written[1:].partition(quote)[0]
    return _COMMENT.sub("", written).strip()


def _run(row: Row, path: Path) -> Run:
    record: dict[str, str] = row.data
    numbers = {key: found for key, value in record.items() if (found := number_or_none(value)) is not None}
    cases, planned = numbers.get("test_cases"), max(numbers.get(name, 0) for name in _CASES)
    commit = record.get("commit_hash", "")
    return Run(
        # two leaderboards may list one run with different numbers: keep both
        native_id=f"{path.stem}.{record['dirname']}",
        source=SourceInfo(name=NAME, format_version="leaderboard"),
        name=record["dirname"],
        subject=Subject(model=record.get("model", ""), agent="aider"),
        variant=non_empty(edit_format=record.get("edit_format"), reasoning_effort=record.get("reasoning_effort")),
        suite=SUITE,
        expected_cases=int(planned) or None,
        measured_attempts=int(cases) if cases else None,
        measured_passes=_passes(numbers),
        started_at=_day(record.get("date", "")),
        reported=tuple(_reported(numbers, row.ref)),
        code=CodeVersion(commit=commit) if commit else None,
        origin=str(path.parent.absolute()),
        ref=row.ref,
        extra=_rest(record, numbers),
    )


def _reported(numbers: dict[str, float], ref: SourceRef) -> Iterator[Reported]:
    """Rates are percentages; the rate after the last try is the headline.

    A rate is one of the exercises that were measured, or of all: whichever its passes make it.
    """
    tries = sorted((int(match["try"]), key) for key in numbers if (match := _RATE.match(key)))
    n = int(numbers["test_cases"]) if "test_cases" in numbers else None
    totals = [int(numbers[name]) for name in _CASES if numbers.get(name)]
    for at, (_, key) in enumerate(reversed(tries)):
        rate, passes = round(numbers[key] / 100, 6), numbers.get(key.replace("rate", "num"))
        of = n if passes is None else min(totals, key=lambda of: abs(rate - passes / of), default=n)
        extra = non_empty(passes=passes)
        yield Reported(name=key, metric="pass_rate", value=rate, n=of, headline=at == 0, extra=extra, ref=ref)
    last = f"pass_num_{tries[-1][0]}" if tries else ""
    for key, value in numbers.items():
        if key not in _HOMES and not _RATE.match(key):
            metric = "passed" if key == last else "count"
            yield Reported(name=key, metric=metric, value=value, n=n if _PASSES.match(key) else None, ref=ref)


def _passes(numbers: dict[str, float]) -> int | None:
    """Older boards state only a rate with one decimal. It is a count where no other count has this rate."""
    tries = sorted(int(match["try"]) for key in numbers if (match := _RATE.match(key)))
    n = int(numbers.get("test_cases", 0))
    if not tries or f"pass_num_{tries[-1]}" in numbers or not 0 < n <= FEW_CASES:
        return None
    rate = numbers[f"pass_rate_{tries[-1]}"]
    fitting = [count for count in range(n + 1) if round(100 * count / n, 1) == rate]
    return fitting[0] if len(fitting) == 1 else None


def _day(written: str) -> str | None:
    return f"{written}T00:00:00" if re.fullmatch(r"\d{4}-\d\d-\d\d", written) else None


def _rest(record: dict[str, str], numbers: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in _HOMES and key not in numbers and value}
