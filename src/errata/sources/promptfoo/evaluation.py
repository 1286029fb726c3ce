"""An evaluation of promptfoo, in any of its file layouts.

`{evalId, results: {version, timestamp, prompts, results, stats}, config, …}` is the current layout. In older ones,
`results` had a `table` and no `prompts`. `{data: …}` and `{id, results: […], prompts}` are shared. Lines are rows.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import SourceRef, Unreadable
from errata.sources.base import Row, json_file, json_lines
from errata.sources.promptfoo import holds_lines
from errata.sources.promptfoo.values import as_text, moment, rest
from errata.sources.shared.values import mapping, sequence, text

_SUMMARY = ("version", "timestamp", "prompts", "results", "stats", "table")
_AROUND = ("evalId", "id", "results", "config", "metadata", "prompts", "createdAt", "version", "datasetId", "data")


class PromptfooEvaluation(NamedTuple):
    rows: Callable[[], Iterable[Row | Unreadable]]
    """Read twice: the names of the runs depend on all rows."""
    ref: SourceRef
    native_id: str
    version: str = ""
    created: str | None = None
    prompts: tuple[dict[str, Any], ...] = ()
    """One per column: a prompt with a provider, and its counts."""
    stats: dict[str, Any] = {}
    config: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    dataset: str = ""
    extra: dict[str, Any] = {}
    prompts_at: str = ""
    stats_at: str = ""


def open_evaluation(path: Path, *, source: str) -> PromptfooEvaluation | Unreadable:
    if holds_lines(path):
        return PromptfooEvaluation(
            rows=lambda: json_lines(path, source=source, root=path),
            ref=SourceRef(file=path.name),
            native_id=path.stem,
        )
    document = json_file(path, source=source, root=path)
    if isinstance(document, Unreadable):
        return document
    if isinstance(document.data, list):
        rows = _rows(document.data, document.ref, "")
        return PromptfooEvaluation(rows=lambda: rows, ref=document.ref, native_id=path.stem)
    return _evaluation(mapping(document.data), document.ref, path.stem)


def _evaluation(root: dict[str, Any], ref: SourceRef, name: str) -> PromptfooEvaluation:
    shared = isinstance(root.get("data"), dict)
    document, above = (root["data"], "/data") if shared else (root, "")
    results = document.get("results")
    summary = mapping(results)
    table = PromptfooTable(mapping(summary.get("table")))
    if isinstance(results, list):
        rows = _rows(results, ref, f"{above}/results")
    elif isinstance(summary.get("results"), list):
        rows = _rows(summary["results"], ref, f"{above}/results/results")
    else:
        rows = list(table.as_rows(ref, f"{above}/results/table"))
    prompts, prompts_at = _prompts(document, summary, table)
    metadata = mapping(document.get("metadata"))
    stamp = summary.get("timestamp") or document.get("createdAt") or metadata.get("evaluationCreatedAt")
    return PromptfooEvaluation(
        rows=lambda: (table.complete(row) for row in rows),
        ref=ref,
        native_id=_native_id(document, stamp, rows, name),
        version=_version(document, summary, results),
        created=moment(stamp),
        prompts=prompts,
        stats=mapping(summary.get("stats")),
        config=mapping(document.get("config")),
        metadata=metadata,
        dataset=text(document.get("datasetId")),
        extra=_extra(document, summary, stamp),
        prompts_at=f"{above}{prompts_at}",
        stats_at=f"{above}/results/stats",
    )


def _prompts(
    document: dict[str, Any], summary: dict[str, Any], table: "PromptfooTable"
) -> tuple[tuple[dict[str, Any], ...], str]:
    for prompts, pointer in (
        (summary.get("prompts"), "/results/prompts"),
        (document.get("prompts"), "/prompts"),
        (table.prompts, "/results/table/head/prompts"),
    ):
        if sequence(prompts):
            return tuple(mapping(prompt) for prompt in sequence(prompts)), pointer
    return (), ""


def _rows(listed: list[Any], ref: SourceRef, pointer: str) -> list[Row]:
    return [Row(row, SourceRef(file=ref.file, pointer=f"{pointer}/{at}")) for at, row in enumerate(listed)]


def _native_id(document: dict[str, Any], stamp: Any, rows: list[Row], name: str) -> str:
    first = mapping(rows[0].data) if rows else {}
    ident = text(document.get("evalId")) or text(document.get("id")) or text(first.get("evalId"))
    created = moment(document.get("createdAt")) or moment(stamp)
    return ident or (f"eval-{created}" if created else name)


def _version(document: dict[str, Any], summary: dict[str, Any], results: Any) -> str:
    version = summary.get("version") or document.get("version")
    if version is None and isinstance(results, list):
        return "4"
    return str(version) if isinstance(version, int | str) else ""


def _extra(document: dict[str, Any], summary: dict[str, Any], stamp: Any) -> dict[str, Any]:
    extra = rest(document, _AROUND) | {f"results {key}": value for key, value in rest(summary, _SUMMARY).items()}
    for key in ("createdAt", "version"):
        value = document.get(key)
        if value is not None and value not in (stamp, summary.get("version")):
            extra[key] = value
    if stamp is not None and moment(stamp) is None:
        extra["timestamp"] = rest({"timestamp": stamp}).get("timestamp")
    return extra


def rows_alone(rows: Iterable[Row | Unreadable]) -> Iterator[Row]:
    return (row for row in rows if isinstance(row, Row) and isinstance(row.data, dict))


class PromptfooTable:
    def __init__(self, table: dict[str, Any]) -> None:
        head = mapping(table.get("head"))
        self.prompts = [mapping(prompt) for prompt in sequence(head.get("prompts"))]
        self._vars = [text(name) for name in sequence(head.get("vars"))]
        self._lines = [mapping(line) for line in sequence(table.get("body"))]
        self._by_vars: dict[tuple[str, ...], int] = {}
        for at, line in enumerate(self._lines):
            self._by_vars.setdefault(tuple(as_text(value) for value in sequence(line.get("vars"))), at)

    def complete(self, row: Row) -> Row:
        """Old rows don't name their test; the table line with the same values does."""
        if not self._by_vars or not isinstance(row.data, dict) or isinstance(row.data.get("testCase"), dict):
            return row
        variables = mapping(row.data.get("vars"))
        at = self._by_vars.get(tuple(as_text(variables.get(name, "")) for name in self._vars))
        if at is None:
            return row
        line = self._lines[at]
        test = mapping(line.get("test")) or {"description": line.get("description"), "vars": variables}
        return Row({**row.data, "testCase": test}, row.ref)

    def as_rows(self, ref: SourceRef, pointer: str) -> Iterator[Row]:
        for at, line in enumerate(self._lines):
            variables = dict(zip(self._vars, sequence(line.get("vars")), strict=False))
            for column, cell in enumerate(sequence(line.get("outputs"))):
                place = SourceRef(file=ref.file, pointer=f"{pointer}/body/{at}/outputs/{column}")
                yield Row(self._row(mapping(cell), line, variables, (at, column)), place)

    def _row(
        self, cell: dict[str, Any], line: dict[str, Any], variables: dict[str, Any], at: tuple[int, int]
    ) -> dict[str, Any]:
        index, column = at
        head = self.prompts[column] if column < len(self.prompts) else {}
        response = {"output": cell.get("text"), "tokenUsage": cell.get("tokenUsage"), "cost": cell.get("cost")}
        test = mapping(line.get("test")) or {"description": line.get("description"), "vars": variables}
        known = ("pass", "text", "prompt", "provider", "tokenUsage", "response")
        return {
            **{key: value for key, value in cell.items() if key not in known},
            "testIdx": line.get("testIdx", index),
            "promptIdx": column,
            "success": cell.get("pass"),
            "provider": cell.get("provider") or head.get("provider"),
            "prompt": {"raw": cell.get("prompt"), "label": head.get("label") or head.get("display")},
            "promptId": head.get("id"),
            "vars": variables,
            "testCase": test,
            "response": mapping(cell.get("response")) or response,
        }
