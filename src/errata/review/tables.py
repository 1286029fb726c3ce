"""Packets as files: JSON Lines for programs, CSV for spreadsheets, in the order of a table."""

import csv
import heapq
import json
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, NamedTuple

from errata.model import Attribution, Packet
from errata.model.attribution import suggested_label
from errata.model.codec import to_json, to_whole
from errata.model.standing import Standing
from errata.model.verdict import word_for
from errata.review.excerpts import excerpt
from errata.text.clean import clean, one_kind_of_line_end, quoted
from errata.text.outgoing import for_others, tree_for_others

CELL = 32_000
"""Bytes; spreadsheets cut a cell after 32,767 characters, and do not say so."""
VERDICT = ("verdict_label", "verdict_owner", "verdict_reviewer", "verdict_state")
"""The last columns of `failure_review_rows`: the current verdict, empty where nobody has reviewed the row."""
JUDGED = (
    "model_name",
    "turn",
    "failed_dimensions",
    "error_mode_candidate",
    "user_text",
    "assistant_text",
    "judge_reasoning",
    "scores_json",
    "tool_calls_json",
    "tool_results_json",
    "run_id",
    "follows_turn",
)
"""The columns of `failure_review_rows`, in their order, for harnesses whose cases are judged turns.

The last two are errata's own: a model may have several runs, and a row that was filled in names the turn it follows.
"""
GENERAL = ("run", "model", "case", "category", "outcome", "failed_checks", "error", "task", "output", "expected",
           "grader", "judge_reasoning", "log", "suggested_label", "suggested_owner")  # fmt: skip
WHICH = ("run", "case", "attempt_id")
ANSWERS = ("label", "owner", "cause", "reasoning", "evidence_place", "evidence_quote", "confidence", "note")
"""What the reviewer fills in; the owner only where no label fits."""
_SCORES = {"pass": True, "fail": False}
_CELLS = {
    "error": ("error", "status", "checks"),
    "task": ("task", "input", "choices"),
    "output": ("output", "tool_calls", "tool_results", "steps"),
    "expected": ("expected", "reference"),
    "grader": ("grader",),
    "judge_reasoning": ("judge_reasoning",),
}
Redact = Callable[[Packet], Packet]
_NO_LOGS = frozenset(("system_prompt", "context", "earlier", "later", "repeated", "parts"))


class ExportRow(NamedTuple):
    packet: Packet
    label: str = ""
    """What triage suggests; it speeds a review up and is not the truth."""
    owner: str = ""
    standing: Standing | None = None


def is_failed_row(packet: Packet) -> bool:
    """Any dimension false, whatever became of the turn."""
    return bool(_failed(packet))


def write_packets(exported: Iterable[ExportRow], file: IO[bytes], *, redact: Redact) -> int:
    """One a line; how many there were."""
    count = 0
    for count, row in enumerate(exported, 1):  # noqa: B007
        file.write(to_json(tree_for_others(to_whole(redact(row.packet)))) + b"\n")
    return count


def write_rows(exported: Iterable[ExportRow], file: IO[str], *, redact: Redact) -> int:
    """The failed rows of judged turns, raw, as JSON; `write_table` with `answers=False` writes them as CSV."""
    count = 0
    for row in exported:
        if is_failed_row(row.packet):
            file.write(f"{json.dumps(judged_row(row, redact(row.packet)), sort_keys=False)}\n")
            count += 1
    return count


def write_table(
    exported: Iterable[ExportRow], file: IO[str], *, judged: bool, redact: Redact, answers: bool = True
) -> int:
    """A row for each failure; with `judged` for each failed row. How many there were."""
    columns = columns_of(judged=judged, answers=answers)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    count = 0
    for exported_row in exported:
        if judged and not is_failed_row(exported_row.packet):
            continue
        packet = redact(exported_row.packet)
        row = judged_row(exported_row, packet) if judged else general_row(exported_row, packet)
        which = {"run": packet.run.get("id"), "case": packet.case_key, "attempt_id": packet.attempt_id}
        row |= {name: for_others(str(value or "")) for name, value in which.items()}
        writer.writerow([_cell(row.get(name, ""), short=answers) for name in columns])
        count += 1
    return count


def columns_of(*, judged: bool, answers: bool) -> tuple[str, ...]:
    """Those that are asked for first, in their order; then which failure it is and what is to be filled in."""
    columns = JUDGED if judged else GENERAL
    if judged and not answers:
        return (*columns, *VERDICT)
    which = tuple(name for name in WHICH if name not in columns)
    return (*columns, *which, *(ANSWERS if answers else ()))


def judged_row(row: ExportRow, packet: Packet) -> dict[str, Any]:
    texts = {place.place: place.text for place in packet.places}
    counted = [check for check in packet.facts["checks"] if check.get("counts") is not False]
    return {
        "model_name": packet.run.get("model") or "",
        "turn": packet.facts.get("turn", ""),
        "failed_dimensions": ",".join(_failed(packet)),
        "error_mode_candidate": row.label,
        "user_text": texts.get("input") or texts.get("task", ""),
        "assistant_text": texts.get("output", ""),
        "judge_reasoning": _joined(packet, _CELLS["judge_reasoning"]),
        "scores_json": _sorted({check["name"]: _SCORES.get(check["status"]) for check in counted}),
        "tool_calls_json": _sorted_text(texts.get("tool_calls", "[]")),
        "tool_results_json": _sorted_text(texts.get("tool_results", "[]")),
        "run_id": packet.run.get("id") or "",
        "follows_turn": str(packet.facts.get("follows", "")).removeprefix("turn-"),
    } | verdict_cells(row.standing)


def verdict_cells(standing: Standing | None) -> dict[str, str]:
    """The columns `VERDICT` of a row."""
    if standing is None:
        return dict.fromkeys(VERDICT, "")
    verdict = standing.verdict
    cells = (verdict.label, verdict.owner, word_for(verdict.reviewer), _state(standing))
    return dict(zip(VERDICT, map(for_others, cells), strict=True))


def _state(standing: Standing) -> str:
    if standing.is_disputed:
        return "disputed"
    if standing.verdict.inherited_from is not None:
        return "inherited"
    return "final" if standing.final else "needs a second reviewer"


def general_row(row: ExportRow, packet: Packet) -> dict[str, Any]:
    named = {prefix for prefixes in _CELLS.values() for prefix in prefixes}
    logs = tuple({head for place in packet.places if (head := _head(place.place)) not in named | _NO_LOGS})
    return {
        "model": packet.run.get("model") or "",
        "category": packet.facts.get("category", ""),
        "outcome": packet.facts["outcome"],
        "failed_checks": ",".join(_failed(packet)),
        "log": _joined(packet, logs),
        "suggested_label": row.label,
        "suggested_owner": row.owner,
    } | {name: _joined(packet, prefixes) for name, prefixes in _CELLS.items()}


def _failed(packet: Packet) -> list[str]:
    checks = packet.facts["checks"]
    return [check["name"] for check in checks if check["status"] == "fail" and check.get("counts") is not False]


def _joined(packet: Packet, heads: Iterable[str]) -> str:
    """One place as it is; several each under its name, by which evidence refers to it."""
    wanted = frozenset(heads)
    places = [place for place in packet.places if _head(place.place) in wanted]
    if len(places) == 1:
        return places[0].text
    return "\n".join(f"[{place.place}]\n{place.text.rstrip()}" for place in places)


def _head(place: str) -> str:
    return place.partition("/")[0]


def _sorted(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _sorted_text(text: str) -> str:
    """JSON with its keys in order, in ASCII; a text that is none, since parts of it are redacted, as it is."""
    try:
        return _sorted(json.loads(text))
    except ValueError:
        return text


def _cell(value: Any, *, short: bool) -> str:
    text = one_kind_of_line_end("" if value is None else clean(str(value)))
    if short:
        text = excerpt(text, CELL).text
    return quoted(text)


def rows_in_order(streams: Iterable[Iterator[ExportRow]]) -> Iterator[ExportRow]:
    """By model, then turn; two runs of one model beside each other. Each stream is in the order of its turns."""

    def key(row: ExportRow) -> tuple[str, int, str]:
        return row.packet.run.get("model") or "", row.packet.facts.get("turn", -1), row.packet.attempt_id

    return heapq.merge(*streams, key=key)


def export_row(packet: Packet, attribution: Attribution | None, standing: Standing | None = None) -> ExportRow:
    label = suggested_label(attribution, packet.question.taxonomy)
    return ExportRow(packet, label, attribution.owner if attribution else "", standing)
