"""The table of old exports: columns of prompts, and a line for each test with one cell per column."""

from collections.abc import Iterator
from typing import Any

from errata.model import SourceRef
from errata.sources.base import Row
from errata.sources.promptfoo.values import as_text
from errata.sources.shared.values import mapping, sequence, text


class Table:
    def __init__(self, table: dict[str, Any]) -> None:
        head = mapping(table.get("head"))
        self.prompts = [mapping(prompt) for prompt in sequence(head.get("prompts"))]
        self._vars = [text(name) for name in sequence(head.get("vars"))]
        self._lines = [mapping(line) for line in sequence(table.get("body"))]
        self._by_vars: dict[tuple[str, ...], int] = {}
        for at, line in enumerate(self._lines):
            self._by_vars.setdefault(tuple(as_text(value) for value in sequence(line.get("vars"))), at)

    def completed(self, row: Row) -> Row:
        """Rows of that time don't say which test they belong to; the line with the same values does."""
        if not self._by_vars or not isinstance(row.data, dict) or isinstance(row.data.get("testCase"), dict):
            return row
        told = mapping(row.data.get("vars"))
        at = self._by_vars.get(tuple(as_text(told.get(name, "")) for name in self._vars))
        if at is None:
            return row
        line = self._lines[at]
        test = mapping(line.get("test")) or {"description": line.get("description"), "vars": told}
        return Row({**row.data, "testCase": test}, row.ref)

    def as_rows(self, ref: SourceRef, pointer: str) -> Iterator[Row]:
        """For a file that holds the table alone."""
        for at, line in enumerate(self._lines):
            told = dict(zip(self._vars, sequence(line.get("vars")), strict=False))
            for column, cell in enumerate(sequence(line.get("outputs"))):
                place = SourceRef(file=ref.file, pointer=f"{pointer}/body/{at}/outputs/{column}")
                yield Row(self._row(mapping(cell), line, told, (at, column)), place)

    def _row(
        self, cell: dict[str, Any], line: dict[str, Any], told: dict[str, Any], at: tuple[int, int]
    ) -> dict[str, Any]:
        index, column = at
        head = self.prompts[column] if column < len(self.prompts) else {}
        response = {"output": cell.get("text"), "tokenUsage": cell.get("tokenUsage"), "cost": cell.get("cost")}
        test = mapping(line.get("test")) or {"description": line.get("description"), "vars": told}
        known = ("pass", "text", "prompt", "provider", "tokenUsage", "response")
        return {
            **{key: value for key, value in cell.items() if key not in known},
            "testIdx": line.get("testIdx", index),
            "promptIdx": column,
            "success": cell.get("pass"),
            "provider": cell.get("provider") or head.get("provider"),
            "prompt": {"raw": cell.get("prompt"), "label": head.get("label") or head.get("display")},
            "promptId": head.get("id"),
            "vars": told,
            "testCase": test,
            "response": mapping(cell.get("response")) or response,
        }
