"""Counts of failures by what they share: facets and groups come from these, without a look at every failure."""

import sqlite3
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from errata.model.filters import FailureFilters
from errata.model.listing import NOT_GIVEN, Facets, Grouping, RowGroup
from errata.store.database import Store
from errata.store.index_file import index_of, match_words

_REVIEWED = frozenset(("reviewed", "final", "disputed"))


class Kind(NamedTuple):
    """Values that failures are filtered and grouped by, and how many share all of them."""

    bucket: str
    owner: str
    check_name: str
    review: str
    category: str
    past: str
    signals: str
    size: int


_SHARED = Kind._fields[:-1]
_COLUMNS = ", ".join(_SHARED)
_GROUPED_BY: dict[Grouping, str] = {"bucket": "bucket", "owner": "owner", "check": "check_name", "category": "category"}
_FACETS = {"owner": "owners", "check": "check", "review": "review", "category": "category", "past": "past"}


# writing, within a transaction


def count_kinds(connection: sqlite3.Connection, run_id: str) -> None:
    connection.execute("DELETE FROM kinds WHERE run_id = ?", (run_id,))
    connection.execute(
        f"INSERT INTO kinds SELECT run_id, {_COLUMNS}, COUNT(*) FROM failures WHERE run_id = ?"  # noqa: S608
        f" GROUP BY {_COLUMNS}",
        (run_id,),
    )


# reading


def kept_kinds(connection: sqlite3.Connection, run_id: str) -> list[Kind]:
    query = f"SELECT {_COLUMNS}, count FROM kinds WHERE run_id = ?"  # noqa: S608
    return [Kind(*row) for row in connection.execute(query, (run_id,))]


def counted_kinds(connection: sqlite3.Connection, where: str, values: Sequence[object]) -> list[Kind]:
    query = f"SELECT {_COLUMNS}, COUNT(*) FROM failures WHERE {where} GROUP BY {_COLUMNS}"  # noqa: S608
    return [Kind(*row) for row in connection.execute(query, values)]


def facets_in(kinds: Iterable[Kind], filters: FailureFilters) -> Facets:
    """Counts of every value; each facet without its own filter, so that another value can be chosen."""
    counted: dict[str, Counter[str]] = {name: Counter() for name in (*_FACETS, "signal")}
    total = 0
    for kind in kinds:
        unfit = list(_unfit(kind, filters))
        if not unfit:
            total += kind.size
        elif len(unfit) > 1 or unfit[0] not in counted:
            continue
        for name in unfit or counted:
            if name == "signal":
                for signal in kind.signals.split():
                    counted[name][signal] += kind.size
            else:
                counted[name][_value(kind, name)] += kind.size
    ordered = {
        name: dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))) for name, counts in counted.items()
    }
    return Facets(total=total, **ordered)


def groups_in(kinds: Iterable[Kind], filters: FailureFilters, grouping: Grouping) -> list[RowGroup]:
    column = _GROUPED_BY[grouping]
    owners: dict[str, Counter[str]] = {}
    reviewed: Counter[str] = Counter()
    for kind in kinds:
        if any(_unfit(kind, filters)):
            continue
        name = getattr(kind, column)
        owners.setdefault(name, Counter())[kind.owner] += kind.size
        reviewed[name] += kind.size if kind.review in _REVIEWED else 0
    groups = (RowGroup(name, counts.total(), reviewed[name], _owner_of_most(counts)) for name, counts in owners.items())
    return sorted(groups, key=lambda group: (-group.size, group.name))


def _owner_of_most(owners: Counter[str]) -> str:
    """Collateral only where there is nothing else: it follows from another failure."""
    return min(owners, key=lambda owner: (owner == "collateral", -owners[owner], owner))


def _value(kind: Kind, facet: str) -> str:
    return kind.check_name if facet == "check" else str(getattr(kind, facet))


def _unfit(kind: Kind, filters: FailureFilters) -> Iterator[str]:
    """The facets whose filter leaves these failures out, and `bucket`."""
    if filters.owners and kind.owner not in filters.owners:
        yield "owner"
    for name in ("check", "review", "category", "past", "bucket"):
        wanted = getattr(filters, name)
        if wanted and _value(kind, name) != ("" if wanted == NOT_GIVEN else wanted):
            yield name
    if filters.signal and f" {filters.signal} " not in kind.signals:
        yield "signal"


# --- filters of the failure list as conditions of its queries, and the text that a filter searches for


def conditions_of(store: Store, run_id: str, filters: FailureFilters) -> tuple[str, list[Any]]:
    parts, values = ["run_id = ?"], [run_id]
    if filters.owners:
        parts.append(f"owner IN ({', '.join('?' * len(filters.owners))})")
        values += filters.owners
    equal = (
        ("check_name", filters.check),
        ("review", filters.review),
        ("category", filters.category),
        ("bucket", filters.bucket),
        ("key", filters.key),
        ("past", filters.past),
    )
    for column, value in equal:
        if value:
            parts.append(f"{column} = ?")
            values.append("" if value == NOT_GIVEN else value)
    if filters.signal:
        parts.append("INSTR(signals, ?) > 0")
        values.append(f" {filters.signal} ")
    if filters.text:
        _match(store, run_id, filters.text)
        parts.append("seq IN (SELECT seq FROM temp.matched)")
    return " AND ".join(parts), values


def _match(store: Store, run_id: str, text: str) -> None:
    """Collect the failures of a run that hold a text, or whose case does, once for all queries of a page."""
    connection = index_of(store)
    marks = connection.execute("SELECT number, rows_mark, texts_mark FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    key = (run_id, text, marks)
    if _matched.get(store) == key:
        return
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS matched (seq INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM temp.matched")
    like = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    connection.execute(
        "INSERT INTO temp.matched SELECT seq FROM failures WHERE run_id = ? AND case_key LIKE ? ESCAPE '\\'",
        (run_id, f"%{like}%"),
    )
    if marks is not None:
        start = marks[0] << 32
        connection.execute(
            "INSERT OR IGNORE INTO temp.matched SELECT seq FROM failures WHERE run_id = ? AND attempt IN"
            " (SELECT attempt FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ?)",
            (run_id, match_words(text), start, start + (1 << 32) - 1),
        )
    _matched[store] = key


_matched: "weakref.WeakKeyDictionary[Store, tuple[str, str, Any]]" = weakref.WeakKeyDictionary()
"""What the temporary table of a store's thread was filled for."""
