"""What each rule saw and decided: the sets, and how often the readers of the labelled failures agree.

`python -m bench.real --examples` writes it as docs/rules.md.
"""

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import errata
from bench.real.answers import Answer, answers_of_run
from bench.real.labels import Item, Label
from errata.triage import MEANS, built_in

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "rules.md"
FIXTURES = ROOT / "tests" / "fixtures" / "sources"
MOST_SETS = 4
_ROW = re.compile(
    r"^\| `(?P<rule>[^`]+)` \| [^|]* \| [^|]* \| (?P<sets>[^|]*) \| (?P<right>\d+) \| (?P<wrong>\d+) \|$", re.MULTILINE
)
_HEAD = """# Rules

Every rule of triage, where it saw something, and how often it was right where it decided. `python -m bench.real
--examples` writes this page; [Owners](attribution.md) explains how rules decide.

*Seen in* lists sets of labelled failures, and formats of the test fixtures in italics. *Right* and *wrong* count the
labelled failures that the rule decided, against their readers ([how they were read](measured.md)). Rules without a set
state facts of the providers' own clients: exception classes, error codes, HTTP statuses and exit codes.
"""
_COLUMNS = "| rule | means | owner | seen in | right | wrong |\n|---|---|---|---|---|---|\n"


class Examples(NamedTuple):
    decided: int
    right: int
    sources: tuple[str, ...]


def labelled_examples() -> dict[str, Examples]:
    """As in the table; empty where it was never written."""
    table = TABLE.read_text("utf-8") if TABLE.exists() else ""
    examples = {}
    for row in _ROW.finditer(table):
        right, sets = int(row["right"]), re.sub(r"\*[^*]*\*|, and \d+ more", "", row["sets"])
        examples[row["rule"]] = Examples(
            right + int(row["wrong"]), right, tuple(name for name in sets.replace(" ", "").split(",") if name)
        )
    return examples


def write_examples(rows: Iterable[tuple[Item, Label, Answer]]) -> None:
    right, wrong = Counter[str](), Counter[str]()
    sets, formats = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    owners = defaultdict[str, Counter[str]](Counter)
    for item, label, answer in rows:
        if item.kind != "failure":
            continue
        for name in {*answer.signals, answer.decided_by} - {""}:
            sets[name].add(item.set)
        (right if label.owner == answer.owner else wrong)[answer.decided_by] += 1
        owners[answer.decided_by][answer.owner] += 1
    for source, answer in _of_fixtures():
        for name in {*answer.signals, answer.decided_by} - {""}:
            formats[name].add(source)
        owners[answer.decided_by][answer.owner] += 1

    def row(name: str, means: str, owner: str) -> str:
        seen = [*sorted(sets[name]), *(f"*{one}*" for one in sorted(formats[name] - sets[name]))]
        more = f", and {len(seen) - MOST_SETS} more" if len(seen) > MOST_SETS else ""
        where = ", ".join(seen[:MOST_SETS]) + more
        return f"| `{name}` | {means} | {owner} | {where} | {right[name]} | {wrong[name]} |"

    of_words = [
        row(rule.name, rule.means, ", also ".join([rule.owner, *rule.also]))
        for rule in sorted(built_in().book.rules.values(), key=lambda rule: rule.name)
    ]
    of_facts = [
        row(name, means, ", ".join(owner for owner, _ in owners[name].most_common()))
        for name, means in sorted(MEANS.items())
    ]
    parts = (
        _HEAD,
        "## By the words of the harness\n\nIn `src/errata/triage/rules/*.toml`.\n\n" + _COLUMNS + "\n".join(of_words),
        "## By the facts of an attempt\n\nPython functions; the owners are those that they decided on.\n\n"
        + _COLUMNS
        + "\n".join(of_facts),
    )
    TABLE.write_text("\n".join(parts[:1]) + "\n" + "\n\n".join(parts[1:]) + "\n", encoding="utf-8")


def _of_fixtures() -> Iterator[tuple[str, Answer]]:
    """The failures of every log among the tests' fixtures, by the format."""
    for folder in sorted(FIXTURES.iterdir()):
        for logs in (folder, *sorted(one for one in folder.iterdir() if one.is_dir())):
            with tempfile.TemporaryDirectory(prefix="errata-rules-") as made:
                try:
                    runs = errata.open(Path(made) / "rules.db").import_(logs)
                except errata.ErrataError:
                    continue
                yield from ((folder.name, answer) for run in runs for _, answer in answers_of_run(run))
