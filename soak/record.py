"""The totals of the soak program in the documentation: docs/lab/soak.json, and a table made from it."""

import json
import re
from pathlib import Path

from soak.program import State, summary

ROOT = Path(__file__).parent.parent
FILE = ROOT / "docs" / "lab" / "soak.json"
PAGE = ROOT / "docs" / "reliability.md"
_FOLDERS = re.compile(r'(?<=File ")/[^"]*/(?=(?:soak|errata|tests)/|[^/"]+")')
"""Of the machine that a traceback comes from."""
BEGIN, END = "<!-- made by `python -m soak --record` -->\n", "<!-- end -->"


def record(state: State) -> None:
    """Added to what is recorded: a seed that was run elsewhere stays."""
    recorded = State(FILE)
    recorded.take(state)
    problems = [{**one, "problem": _FOLDERS.sub("", one["problem"])} for one in recorded.problems]
    kept = {"totals": recorded.totals, "problems": problems, "done": recorded.done}
    FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def with_table(page: str) -> str:
    """The page with the table of what is recorded."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n" + "\n".join(summary(State(FILE))) + f"\n\n{END}{tail}"
