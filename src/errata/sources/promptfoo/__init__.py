"""promptfoo: the results of an evaluation as JSON, in any version of its export, or its rows as JSON lines.

A path is recognised by its first bytes.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, decode, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "promptfoo"
TITLE = "promptfoo: `--output` as JSON or JSON lines, old exports with a table, shared evaluations"
HARNESS = Harness(name=NAME, title=NAME)

HEAD = 256 * 1024
_SUMMARY_FIELDS = rb"(?:version|timestamp|prompts|results|stats|table)"

# not inside of a text: there the quotation marks are escaped
_SUMMARY = lazy_regex(rb'"(?<!\\")results"\s*:\s*\{\s*"' + _SUMMARY_FIELDS + rb'"\s*:')
_VERSION = lazy_regex(rb'"(?<!\\")version"\s*:\s*[1-9]\b')
_IN_SUMMARY = lazy_regex(
    rb'"(?<!\\")(?:evalId|promptIdx|shareableUrl|testPassCount|tokenUsage|namedScores)"\s*:'
    rb'|"(?<!\\")prompt"\s*:\s*\{\s*"raw"\s*:'
)
_STORED = lazy_regex(rb'"(?<!\\")id"\s*:\s*"eval-[^"\\]*"')
_CONFIGURED = lazy_regex(rb'"(?<!\\")config"\s*:\s*\{')
_ROW = lazy_regex(rb'\s*+(?:\xef\xbb\xbf\s*+)?(?:\[\s*+)?\{\s*"')
_ROW_FIELDS = (
    lazy_regex(rb'"(?<!\\")(?:promptIdx|testIdx)"\s*:\s*\d'),
    lazy_regex(rb'"(?<!\\")(?:gradingResult|testCase)"\s*:\s*(?:\{|null)'),
    lazy_regex(rb'"(?<!\\")(?:namedScores|failureReason|promptId|latencyMs)"\s*:'),
)


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if is_document(head):
        return Match.sure("promptfoo's results")
    if _ROW.match(head) and all(field.search(head) for field in _ROW_FIELDS):
        return Match.sure("promptfoo's result rows")
    return None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.promptfoo.reader import read_evaluation

    return read_evaluation(path.absolute())


def fuller(path: Path) -> Path | None:
    """The document beside a file of rows that holds all of them."""
    if not holds_lines(path):
        return None
    from errata.sources.promptfoo.reader import document_of_rows

    return document_of_rows(path)


def explain(path: Path) -> str | None:
    try:
        form = _other_form(head_of(path, HEAD))
        if not form:
            return None
        if form == "the configuration":
            return (
                "this is promptfoo's configuration: import the file that `promptfoo eval --output results.json` writes"
            )
        results = next((file for file in _same_results(path) if recognise(file)), None)
    except (OSError, ValueError):
        return None
    if results is not None:
        return f"this is {form} of a promptfoo run: import `{results.name}` beside it"
    return f"this is {form} of a promptfoo run: write JSON with `promptfoo export eval <id> --output results.json`"


def belongs_to(path: Path, readable: Collection[Path]) -> bool:
    """Whether one of these holds the same results in a form that is read."""
    if _other_form(head_of(path, HEAD)) not in ("the YAML", "the CSV"):
        return False
    here = {one.absolute() for one in readable}
    return any(file.absolute() in here for file in _same_results(path))


def _same_results(path: Path) -> list[Path]:
    """Where promptfoo would have written the results as JSON."""
    return [path.with_suffix(".json"), path.with_suffix(".jsonl"), path.with_name(f"{path.name.split('.')[0]}.json")]


def holds_lines(path: Path) -> bool:
    """Whether a file holds one row per line, not one document."""
    head = head_of(path, HEAD)
    if is_document(head) or head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        return False
    first, end, _ = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")
    if not end:
        return True
    try:
        return isinstance(decode(first), dict)
    except ValueError:
        # a broken first row is followed by other rows; a document continues in the next line
        return all(field.search(head) for field in _ROW_FIELDS) and first.strip() != b"{"


def is_document(head: bytes) -> bool:
    """Results with the data of the whole evaluation, in any of promptfoo's formats."""
    if _SUMMARY.search(head) and _VERSION.search(head) and _IN_SUMMARY.search(head):
        return True
    return bool(_STORED.search(head[:1024]) and _CONFIGURED.search(head))


def _other_form(head: bytes) -> str:
    if head.startswith(b"evalId: ") and b"\nresults:" in head:
        return "the YAML"
    header = head.partition(b"\n")[0]
    if b",Status,Score,Named Scores," in header and b"Grader Reason" in header:
        return "the CSV"
    if head.startswith(b"SQLite format 3\x00") and b"eval_results" in head:
        return "the database"
    if re.search(rb"(?m)^prompts:", head) and re.search(rb"(?m)^(?:providers|targets):", head):
        return "the configuration"
    return ""
