"""The mapping file: which column of a custom log has which field, and access to columns by path."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from operator import methodcaller
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from errata.errors import SettingsError
from errata.model.record import Struct
from errata.sources.generic.values import structured
from errata.sources.shared.last_result import remember_last
from errata.text.lazy_regex import lazy_regex

_HINT = "docs/mapping.md shows a whole mapping"
Get = Callable[[dict[str, Any]], Any]
"""Returns the value of one column in a row, or None."""
Tree = dict[str, "Tree | None"]
"""The keys that the mapping uses: None = the whole value, a tree = only these parts."""
_SEGMENT = lazy_regex(r"\[(\d+)\]|([^.\[\]]+)")
LISTED = 40


class MappedColumn(Struct, forbid_unknown_fields=True):
    column: str
    optional: bool = False
    """True if a log may lack the column."""


class DurationColumn(MappedColumn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    unit: Literal["s", "ms", "us", "ns"] = "s"


class ErrorColumn(MappedColumn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    when: Literal["", "status"] = ""
    """`status`: the text is an error only in rows whose status is one."""


class VerdictColumn(MappedColumn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    judge: bool | str = False
    """Whether a judge gave this verdict; a text is the judge's name."""


class CheckColumn(VerdictColumn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    threshold: float | None = None
    lower_is_better: bool = False
    counts: bool = True
    explanation: str = ""
    """The column with the reason as text."""


class HeadlineColumn(Struct, forbid_unknown_fields=True):
    """The score that the harness states for a run: a column or a path, or a constant."""

    column: str = ""
    value: float | str | None = None
    metric: Literal["", "mean", "pass_rate"] = ""
    """Empty: the pass rate, the mean of the rows or the mean of the cases, whichever yields the headline."""
    name: str = ""
    optional: bool = False


Fact = str | int | float | MappedColumn
"""A constant of the run, or a column whose values divide the rows into runs."""


class RunMap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: Fact = ""
    name: Fact = ""
    group: str = ""
    model: Fact = ""
    provider: Fact = ""
    agent: Fact = ""
    agent_version: Fact = ""
    judge: Fact = ""
    suite_version: Fact = ""
    headline: float | str | HeadlineColumn | None = None
    variant: dict[str, Fact] = {}


class CaseMap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str | MappedColumn | None = None
    category: str | MappedColumn | None = None
    input: str | MappedColumn | None = None
    expected: str | MappedColumn | None = None
    tags: str | MappedColumn | None = None
    choices: str | MappedColumn | None = None
    difficulty: str | MappedColumn | None = None


class AttemptMap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    index: str | MappedColumn | None = None
    session: str | MappedColumn | None = None
    output: str | MappedColumn | None = None
    answer: str | MappedColumn | None = None
    messages: str | MappedColumn | None = None
    transcript: str | MappedColumn | None = None
    """The id or file of a coding agent's session."""
    passed: str | VerdictColumn | None = None
    score: str | VerdictColumn | None = None
    threshold: float | None = None
    lower_is_better: bool = False
    status: str | MappedColumn | None = None
    error: str | ErrorColumn | None = None
    scoring_error: str | MappedColumn | None = None
    judge_reasoning: str | MappedColumn | None = None
    stop_reason: str | MappedColumn | None = None
    started_at: str | MappedColumn | None = None
    finished_at: str | MappedColumn | None = None
    duration: str | DurationColumn | None = None
    cost: str | MappedColumn | None = None
    input_tokens: str | MappedColumn | None = None
    output_tokens: str | MappedColumn | None = None
    total_tokens: str | MappedColumn | None = None
    cache_read_tokens: str | MappedColumn | None = None
    cache_write_tokens: str | MappedColumn | None = None
    reasoning_tokens: str | MappedColumn | None = None
    seed: str | MappedColumn | None = None
    exit_code: str | MappedColumn | None = None


class StatusWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    completed: tuple[str, ...] = ()
    error: tuple[str, ...] = ()
    limit: tuple[str, ...] = ()
    cancelled: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class Mapping(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    suite: Fact = ""
    rows: str = ""
    """The path of the rows in a JSON document, `runs[].results[]`; `.` for the document itself."""
    files: str = ""
    """A pattern such as `*.json`: all matching files of the folder are one table."""
    models: tuple[str, ...] = ()
    """The models of a table with columns for each of them; `{model}` in a column's name is replaced by each."""
    cases: tuple[str, ...] = ()
    """The same for a table with a column for each case, and `{case}`."""
    attempts: tuple[str, ...] = ()
    """The same for a table with columns for each attempt at a case, and `{attempt}`."""
    decimal: Literal[".", ","] = "."
    currency: str = ""
    """Of the costs; default: the sign or code in the column's name or in its cells, else USD."""
    transcripts: str = ""
    """The folder with the sessions; default: the folder of the results."""
    run: RunMap = RunMap()
    case: CaseMap = CaseMap()
    attempt: AttemptMap = AttemptMap()
    checks: dict[str, str | CheckColumn] = {}
    status_words: StatusWords = StatusWords()

    @property
    def measures(self) -> bool:
        """Whether the log has any measurement of answers."""
        return bool(self.attempt.passed or self.attempt.score or self.checks)

    def columns(self) -> tuple[tuple[str, MappedColumn], ...]:
        return _columns(self)

    def each_column(self) -> Iterator[tuple[str, MappedColumn]]:
        for key, value in self._values():
            if isinstance(value, MappedColumn):
                yield key, value
        for name, check in self.checks.items():
            yield f"[checks] {name}", as_column(check)
            if isinstance(check, CheckColumn) and check.explanation:
                yield f"[checks] {name}", MappedColumn(column=check.explanation, optional=check.optional)
        headline = self.run.headline
        if isinstance(headline, HeadlineColumn) and headline.column:
            yield "[run] headline", MappedColumn(column=headline.column, optional=headline.optional)

    @property
    def has_judges(self) -> bool:
        """Whether it marks any verdict as a judge's."""
        marked = (self.attempt.passed, self.attempt.score, *self.checks.values())
        return any(isinstance(column, VerdictColumn) and column.judge for column in marked)

    def _values(self) -> Iterator[tuple[str, Any]]:
        yield "suite", self.suite
        for name, value in self.run.variant.items():
            yield f"[run.variant] {name}", value
        for name in RunMap.__struct_fields__:
            yield f"[run] {name}", getattr(self.run, name)
        for section, part in (("case", self.case), ("attempt", self.attempt)):
            for name in part.__struct_fields__:
                value = getattr(part, name)
                yield f"[{section}] {name}", as_column(value) if isinstance(value, str) else value


@remember_last
def _columns(mapping: Mapping) -> tuple[tuple[str, MappedColumn], ...]:
    return tuple(mapping.each_column())


def as_check(value: str | CheckColumn) -> CheckColumn:
    return CheckColumn(column=value) if isinstance(value, str) else value


def as_column(value: str | MappedColumn) -> MappedColumn:
    return MappedColumn(column=value) if isinstance(value, str) else value


def load(path: Path) -> Mapping:
    """Load a mapping file. `SettingsError` with a hint if it is invalid."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"`{path}` can't be read: {error.strerror}", hint="name a mapping file") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"`{path.name}` is not TOML: {error}", hint=_HINT) from error
    _refuse_unknown_keys(path, data)
    try:
        mapping = completed(msgspec.convert(data, type=Mapping))
    except msgspec.ValidationError as error:
        raise SettingsError(f"`{path.name}`: {error}", hint=_HINT) from error
    if mapping.case.name is None and mapping.case.input is None:
        raise SettingsError(
            f"`{path.name}` has no column for the name of the case",
            hint='add `name = "<column>"` to `[case]`, or `input` if cases have no name',
        )
    if mapping.attempt.threshold is not None and mapping.attempt.score is None:
        raise SettingsError(
            f"`{path.name}` has a `threshold` in `[attempt]` and no `score`",
            hint='add `score = "<column>"`; write the threshold of a check at that check',
        )
    return mapping


def completed(mapping: Mapping) -> Mapping:
    """With the columns that the names in `models` and `cases` fill by default."""
    if mapping.models and not mapping.run.model:
        mapping = replace(mapping, run=replace(mapping.run, model=MappedColumn(column="@model")))
    if mapping.cases and mapping.case.name is None:
        mapping = replace(mapping, case=replace(mapping.case, name="@case"))
    return mapping


def closest(word: str, known: Iterable[str]) -> str:
    """`did you mean …? ` if there is a close match, else empty."""
    near = get_close_matches(word, list(known), n=1)
    return f"did you mean `{near[0]}`? " if near else ""


_SECTIONS: dict[str, type[msgspec.Struct]] = {
    "run": RunMap,
    "case": CaseMap,
    "attempt": AttemptMap,
    "status_words": StatusWords,
}


def _refuse_unknown_keys(path: Path, data: dict[str, Any]) -> None:
    _refuse_unknown(path, "at the top", data, Mapping.__struct_fields__)
    for section, kind in _SECTIONS.items():
        keys = data.get(section)
        if isinstance(keys, dict):
            _refuse_unknown(path, f"in `[{section}]`", keys, kind.__struct_fields__)


def _refuse_unknown(path: Path, where: str, keys: dict[str, Any], known: tuple[str, ...]) -> None:
    for key in keys:
        if key not in known:
            raise SettingsError(
                f"`{path.name}` has an unknown key {where}: `{key}`",
                hint=f"{closest(key, known)}Valid keys: {', '.join(known)}",
            )


@lru_cache(256)
def segments(path: str) -> tuple[str | int, ...]:
    """`usage.tokens[0]` → `("usage", "tokens", 0)`."""
    return tuple(int(number) if number else name for number, name in _SEGMENT.findall(path))


def getter(path: str, columns: Collection[str]) -> Get:
    """A plain column is a bare `dict.get`. A column with dots or brackets in its name takes precedence over a path."""
    parts = segments(path)
    if path in columns or len(parts) < 2:
        return methodcaller("get", path)

    def reach(row: dict[str, Any]) -> Any:
        return follow(row, parts)

    return reach


def follow(value: Any, parts: Iterable[str | int]) -> Any:
    for part in parts:
        if type(value) is str:  # a table's cell may hold JSON
            value = structured(value)
        if type(value) is dict:
            value = value.get(part)
        elif type(value) is list and type(part) is int and part < len(value):
            value = value[part]
        else:
            return None
    return value


def refuse_missing(mapping: Mapping, file: str, columns: Collection[str], sample: list[Any], *, fixed: bool) -> None:
    """`SettingsError` if the log lacks columns of the mapping.

    Without a header (`fixed` is false) rows may omit fields, and few rows have an error.
    """
    missing = [
        (key, asked.column)
        for key, asked in mapping.columns()
        if not asked.optional
        and not (key == "[attempt] error" and not fixed)
        and lacks_column(asked.column, columns, sample)
    ]
    if not missing:
        return
    shown = ", ".join(f"`{name}` (`{key}`)" for key, name in missing)
    names = sorted({*columns, *_inner_names(missing[0][1], sample)})
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    raise SettingsError(
        f"`{file}` has no column {shown}",
        hint=f"{closest(missing[0][1], names)}It has: {', '.join(names[:LISTED])}{more}\n"
        f'a column that some logs lack: `{{ column = "{missing[0][1]}", optional = true }}`',
    )


def ambiguous_columns(mapping: Mapping, columns: Collection[str], sample: list[Any]) -> list[str]:
    """Columns of the mapping that could mean two columns of the log: the one that is read, and the other."""
    pairs: dict[str, None] = {}
    for _, asked in mapping.columns():
        name = asked.column
        for other in columns:
            if other != name and (other.lower() == name.lower() or re.fullmatch(rf"{re.escape(name)} \(\d+\)", other)):
                pairs[f"`{name}` or `{other}`"] = None
        parts = segments(name)
        if name in columns and len(parts) > 1 and any(follow(row, parts) is not None for row in sample):
            pairs[f"the column `{name}` or `{parts[-1]}` inside `{parts[0]}`"] = None
    return list(pairs)


def spoken_for(asked: Iterable[MappedColumn], columns: Collection[str]) -> Tree:
    """The columns that the mapping uses; for a nested one only the parts that it names."""
    tree: Tree = {}
    for column in asked:
        parts = segments(column.column)
        if column.column in columns or len(parts) < 2:
            tree[column.column] = None
        elif all(type(part) is str for part in parts):
            _plant(tree, [str(part) for part in parts])
    return tree


def rest(value: Any, tree: "Tree | None") -> Any:
    """A nested column without the parts that the mapping uses."""
    if tree is None or type(value) is not dict:
        return value
    return {key: rest(child, tree.get(key)) for key, child in value.items() if key not in tree or tree[key] is not None}


def _plant(tree: Tree, parts: list[str]) -> None:
    *stems, leaf = parts
    for stem in stems:
        branch = tree.setdefault(stem, {})
        if branch is None:
            return
        tree = branch
    tree[leaf] = None


def lacks_column(path: str, columns: Collection[str], sample: list[Any]) -> bool:
    if path in columns:
        return False
    parts = segments(path)
    if len(parts) < 2 or parts[0] not in columns:
        return True
    # if a nested value is null, a list or JSON text in the whole sample, its keys are unknown
    parents = [parent for row in sample if type(parent := follow(row, parts[:-1])) is dict]
    return bool(parents) and not any(parts[-1] in parent for parent in parents)


def _inner_names(path: str, sample: list[Any]) -> set[str]:
    parts = segments(path)
    stem = path.rpartition(".")[0]
    parents = (follow(row, parts[:-1]) for row in sample) if stem else ()
    return {f"{stem}.{key}" for parent in parents if type(parent) is dict for key in parent}
