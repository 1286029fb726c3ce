"""Labelled examples of each rule: how often it decided on a labelled failure, and how often the readers agree.

`EXAMPLES.md` is written by `python -m bench.real --examples`.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from bench.real.answers import Answer
from bench.real.labels import Item, Label

TABLE = Path(__file__).parent / "EXAMPLES.md"
_ROW = re.compile(
    r"^\| `(?P<rule>[^`]+)` \| (?P<decided>\d+) \| (?P<right>\d+) \| (?P<sources>[^|]*) \|$", re.MULTILINE
)
_HEAD = """# Labelled examples of each rule

Written by `python -m bench.real --examples`. A rule may say `certain` where it repeats a field of the harness, or after
ten labelled examples from two sources with none wrong.

| rule | decided | right | sources |
|---|---|---|---|
"""


class Examples(NamedTuple):
    decided: int
    right: int
    sources: tuple[str, ...]


def labelled_examples() -> dict[str, Examples]:
    """As in the table; empty where it was never written."""
    table = TABLE.read_text("utf-8") if TABLE.exists() else ""
    return {
        row["rule"]: Examples(int(row["decided"]), int(row["right"]), tuple(row["sources"].split(", ")))
        for row in _ROW.finditer(table)
    }


def write_examples(rows: Iterable[tuple[Item, Label, Answer]]) -> None:
    by_rule: dict[str, list[tuple[str, bool]]] = {}
    for item, label, answer in rows:
        if item.kind == "failure" and answer.decided_by:
            by_rule.setdefault(answer.decided_by, []).append((item.set, label.owner == answer.owner))
    lines = []
    for rule, those in sorted(by_rule.items()):
        right, sources = sum(is_right for _, is_right in those), ", ".join(sorted({name for name, _ in those}))
        lines.append(f"| `{rule}` | {len(those)} | {right} | {sources} |")
    TABLE.write_text(_HEAD + "\n".join(lines) + "\n", encoding="utf-8")
