"""Read a table with its mapping: rows become runs, cases and attempts. The mapping is compiled once per file."""

from collections.abc import Callable, Collection, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from errata.errors import SettingsError, SourceError
from errata.model import Attempt, Case, Harness, Item, SourceRef, Unreadable, case_key
from errata.model.case_versions import FACTS
from errata.model.identity import attempt_id, case_key_of_input
from errata.sources.base import Match, Row, Source, convert_each, unreadable
from errata.sources.generic import FOLDER_MAP, HARNESS, MAP_SUFFIX, NAME, SUFFIXES, TITLE, map_beside
from errata.sources.generic.attempts import Attempts, MappedField, take
from errata.sources.generic.mapping import CaseMap, Mapping, as_column, getter, load, refuse_missing, rest, spoken_for
from errata.sources.generic.places import NOT_RUN, RUN_OBJECT
from errata.sources.generic.runs import MappedFile, MappedRun, Runs
from errata.sources.generic.sessions import Sessions
from errata.sources.generic.tables import RowTable, join_tables, open_table
from errata.sources.generic.values import NOT_UNDERSTOOD, bounded, is_empty, text, whole, words
from errata.sources.shared.runs import by_neighbours
from errata.sources.shared.values import plain

_CASE: dict[str, Callable[[Any], Any]] = {
    "category": text,
    "input": plain,
    "expected": plain,
    "tags": words,
    "choices": words,
    "difficulty": text,
}


_HASHABLE = (str, int, float, bool)
_encode = msgspec.json.Encoder(order="deterministic", enc_hook=repr).encode


def read_with_map_beside(path: Path) -> Iterator[Item]:
    beside = map_beside(path)
    if beside is None:
        raise SettingsError(
            f"There is no mapping beside `{path.name}`",
            hint=f"write `{path.name}{MAP_SUFFIX}` or `{FOLDER_MAP}` there, or name one with `--map`",
        )
    mapping = load(beside)
    if path.is_dir():
        yield from _read_files(path, mapping)
    else:
        yield from _read_file(path, mapping, in_folder=False)


def mapped_source(map_path: Path) -> Source:
    return cast(Source, MappedSource(load(map_path)))


class MappedSource(msgspec.Struct, frozen=True):
    mapping: Mapping
    NAME: str = NAME
    TITLE: str = TITLE
    HARNESS: Harness = HARNESS

    def recognise(self, path: Path) -> Match | None:
        try:
            known = path.is_file() or bool(self.mapping.files and matching_files(path, self.mapping.files))
            return Match.sure("the given mapping") if known or _data_files(path) else None
        except (OSError, ValueError):
            return None

    def read(self, path: Path) -> Iterator[Item]:
        if not path.is_dir():
            yield from _read_file(path, self.mapping, in_folder=False)
            return
        if self.mapping.files:
            yield from _read_files(path, self.mapping)
            return
        files = _data_files(path)
        if not files:
            raise SourceError(f"No data files in `{path}`", hint=f"supported: {', '.join(SUFFIXES)}")
        for file in files:
            yield from _read_file(file, self.mapping, in_folder=True)


def _data_files(folder: Path) -> list[Path]:
    files = (path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and not path.name.startswith("."))
    return sorted(path for path in files if path.is_file())


def matching_files(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder that match the pattern, without hidden ones, links and mappings."""
    files = (path for path in folder.glob(pattern) if path.is_file() and not path.is_symlink())
    visible = (path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts))
    return sorted(path for path in visible if not path.name.endswith((MAP_SUFFIX, FOLDER_MAP)))


def _read_files(folder: Path, mapping: Mapping) -> Iterator[Item]:
    """All matching files of a folder as one table."""
    try:
        files = matching_files(folder, mapping.files)
    except (NotImplementedError, ValueError) as error:
        raise SettingsError(f"`files` is not a pattern: {error}", hint='such as `files = "*.json"`') from error
    if not files:
        raise SourceError(f"No file in `{folder}` matches `{mapping.files}`", hint="`files` is relative to the folder")
    table = join_tables(open_table(path, source=NAME, root=folder, mapping=mapping) for path in files)
    origin = MappedFile(
        source=NAME,
        stem=folder.absolute().name,
        file=folder.absolute().name,
        origin=str(folder.absolute()),
        around={},
        in_folder=False,
    )
    yield from _read_table(table, mapping, origin, folder)


def _read_file(path: Path, mapping: Mapping, *, in_folder: bool) -> Iterator[Item]:
    table = open_table(path, source=NAME, root=path, mapping=mapping)
    origin = MappedFile(
        source=NAME,
        stem=path.stem,
        file=path.name,
        origin=str(path.parent.absolute()),
        around=table.around,
        in_folder=in_folder,
    )
    yield from _read_table(table, mapping, origin, path.parent)


def _read_table(table: RowTable, mapping: Mapping, origin: MappedFile, folder: Path) -> Iterator[Item]:
    if table.columns:
        refuse_missing(mapping, origin.file, table.columns, table.sample, fixed=table.fixed)
    runs = Runs(mapping, table, origin)
    rows = RowConverter(mapping, runs, table.columns, table.sample, folder)
    items = convert_each(table.rows, rows, source=NAME, owner=runs.owner)
    ordered = _run_first(items, runs, origin.file)
    yield from ordered if runs.is_one else by_neighbours(ordered)
    yield from runs.finished()


def _run_first(items: Iterator[Item], runs: Runs, file: str) -> Iterator[Item]:
    """Yield a run before anything unreadable, also if rows name their run. Without a good row there is still a run."""
    waiting: list[Item] = []
    first: Item | None = runs.announce({}) if runs.is_one else None
    while first is None:
        item = next(items, None)
        if isinstance(item, Unreadable):
            waiting.append(item)
        else:
            first = item or runs.announce({})
    yield first
    others = chain(waiting, items)
    yield next(others, None) or unreadable(NAME, SourceRef(file=file), "no rows")
    yield from others


class RowConverter:
    """Converts each row of a file to its items."""

    def __init__(
        self, mapping: Mapping, runs: Runs, columns: Collection[str], sample: list[Any], folder: Path = Path()
    ) -> None:
        """`folder` contains the file."""
        self._runs = runs
        self._sessions = Sessions(mapping, columns, folder) if mapping.attempt.transcript else None
        self._cases = Cases(mapping.case, columns)
        self._attempts = Attempts(mapping, columns, sample)
        self._numbers = AttemptNumbers(mapping, columns, sample)
        self._session_numbers = SessionNumbers(mapping, columns, sample) if mapping.attempt.session else None
        self._taken = {
            **spoken_for((column for _, column in mapping.columns()), columns),
            NOT_RUN: None,
            RUN_OBJECT: None,
        }

    def __call__(self, row: Row) -> list[Item]:
        data = row.data
        if data is None:
            raise ValueError("there are no rows here")
        if type(data) is not dict:
            raise ValueError(f"expected an object, found {type(data).__name__}")
        state = self._runs.state_of(data)
        items: list[Item] = [] if state.announced else [state.run]
        name = self._cases.name_of(data)
        key = case_key(state.run.suite, name)
        facts = self._cases.facts(data)
        if state.is_news(key, facts):
            case = self._cases.record(state, name, row)
            items += [case] if case else []
        values = self._attempts.values(row)
        if self._session_numbers:
            self._session_numbers.fill(state.run.id, data, values)
        values.update(self._numbers.own(state, key, values.get("session"), data))
        unread = self._sessions.join(data, values) if self._sessions else ()
        left = self._unmapped(data)
        if left:
            values.setdefault("extra", {})["columns"] = left
        attempt = Attempt(run=state.run.id, case=key, ref=row.ref, **values)
        # noted last, so that an unreadable row uses up neither a number nor a case
        self._runs.note(state, data, attempt, facts)
        items.append(attempt)
        items += [replace(item, run=state.run.id) for item in unread]
        return items

    def _unmapped(self, data: dict[str, Any]) -> dict[str, Any]:
        """The columns that the mapping does not name."""
        taken = self._taken
        left = {}
        for name, value in data.items():
            if name not in taken:
                left[name] = bounded(name, value)
            elif (tree := taken[name]) is not None and (kept := rest(value, tree)):
                left[name] = bounded(name, kept)
        return left


class Cases:
    def __init__(self, mapping: CaseMap, columns: Collection[str]) -> None:
        self._name = getter(as_column(mapping.name).column, columns) if mapping.name else None
        self._input = getter(as_column(mapping.input).column, columns) if mapping.input else None
        self._fields = tuple(
            MappedField(name, getter(as_column(asked).column, columns), convert)
            for name, convert in _CASE.items()
            if (asked := getattr(mapping, name))
        )
        self._facts = tuple(field.get for field in self._fields if field.name in FACTS)

    def facts(self, data: dict[str, Any]) -> int:
        """A hash of what the row asks and expects."""
        return hash(tuple([_fact(get(data)) for get in self._facts])) if self._facts else 0

    def name_of(self, data: dict[str, Any]) -> str:
        name = self._name(data) if self._name else None
        if not is_empty(name):
            return text(name)
        asked = self._input(data) if self._input else None
        if is_empty(asked):
            raise ValueError("the row has no case name and no input")
        return case_key_of_input("", plain(asked))

    def record(self, state: MappedRun, name: str, row: Row) -> Case | None:
        """None if the table has only names of cases."""
        values: dict[str, Any] = {}
        take(self._fields, row.data, values, {})
        if not values and not self._facts:
            return None
        return Case(run=state.run.id, suite=state.run.suite, native_id=name, ref=row.ref, **values)


def _fact(value: Any) -> Any:
    """A value that equals itself and can be hashed."""
    if value is None or value == "" or value != value:
        return None
    return value if type(value) in _HASHABLE else _encode(value)


class SessionNumbers:
    """The session of a row. If the first rows have names in place of numbers, names are numbered as they appear."""

    def __init__(self, mapping: Mapping, columns: Collection[str], sample: list[Any]) -> None:
        asked = mapping.attempt.session
        self._get = getter(as_column(asked).column, columns) if asked else lambda _: None
        values = (self._get(row) for row in sample)
        self._has_names = any(not is_empty(value) and _whole_or_none(value) is None for value in values)
        self._numbers: dict[str, dict[str, int]] = {}
        """Run → name → number."""

    def fill(self, run: str, data: dict[str, Any], values: dict[str, Any]) -> None:
        value = self._get(data)
        if is_empty(value):
            return
        if self._has_names:
            known = self._numbers.setdefault(run, {})
            values["session"] = known.setdefault(text(value), len(known) + 1)
            values.setdefault("extra", {})["session_name"] = text(value)
        elif (number := _whole_or_none(value)) is not None:
            values["session"] = number
        else:
            extra = values.setdefault("extra", {})
            extra.setdefault("not_understood", {})["session"] = plain(value)


class AttemptNumbers:
    """The attempt number of a row: from the log, else by the order of the rows."""

    def __init__(self, mapping: Mapping, columns: Collection[str], sample: list[Any]) -> None:
        asked = mapping.attempt.index
        self._get = getter(as_column(asked).column, columns) if asked else None
        # attempts count from 1; a log that counts from 0 has a 0 in its first rows
        self._shift = int(any(self._native(row) == 0 for row in sample))

    def own(self, state: MappedRun, case: str, session: int | None, data: dict[str, Any]) -> dict[str, Any]:
        native, free = self._native(data), state.free(case, session)
        if native is None:
            return {"index": free}
        index = max(native + self._shift, 1)
        if not state.is_taken(case, session, index):
            return {"index": index}
        repeated = attempt_id(state.run.id, case, session=session, index=index)
        return {"index": free, "duplicate_of": repeated}

    def _native(self, data: dict[str, Any]) -> int | None:
        return _whole_or_none(self._get(data)) if self._get else None


def _whole_or_none(value: Any) -> int | None:
    try:
        return whole(value)
    except NOT_UNDERSTOOD:
        return None
