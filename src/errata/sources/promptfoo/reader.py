"""Reads an evaluation of promptfoo and its runs, and finds the document that repeats a file of rows."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from errata.model import Artefact, Item, Reported, Run, SourceInfo, SourceRef, Unreadable, UsageByRole
from errata.model.times import from_milliseconds, parse
from errata.sources.base import Row, children, convert_each, head_of, json_lines, unreadable
from errata.sources.promptfoo import HEAD, NAME, is_document
from errata.sources.promptfoo.attempts import RowPlace, attempt_of, usage
from errata.sources.promptfoo.columns import Graders, Key, PromptfooColumn, PromptfooColumns
from errata.sources.promptfoo.evaluation import PromptfooEvaluation, open_evaluation, rows_alone
from errata.sources.promptfoo.values import case_of, rest, without_secrets
from errata.sources.shared.runs import CaseNumbering, by_neighbours
from errata.sources.shared.values import indented_json, mapping, number, sequence, text
from errata.text.clean import one_line

LOOKS = 200
WHOLE = 64 * 1024 * 1024


def read_evaluation(path: Path) -> Iterator[Item]:
    evaluation = open_evaluation(path, source=NAME)
    if isinstance(evaluation, Unreadable):
        yield evaluation
        return
    columns = PromptfooColumns(evaluation, rows_alone(evaluation.rows()))
    runs = {key: run_of(evaluation, column, len(columns.by_key), path) for key, column in columns.by_key.items()}
    yield from runs.values()
    rows = PromptfooRows(columns, runs, Graders(evaluation.config))
    yield from by_neighbours(convert_each(evaluation.rows(), rows.items_of, source=NAME, owner=rows.owner))
    yield from _nothing(evaluation, runs)


def _nothing(evaluation: PromptfooEvaluation, runs: dict[Key, Run]) -> Iterator[Unreadable]:
    if not runs and not any(evaluation.rows()):
        yield unreadable(NAME, evaluation.ref, "no results")


class PromptfooRows:
    """Converts rows: counts the attempts at each case, and remembers promptfoo's own numbers."""

    def __init__(self, columns: PromptfooColumns, runs: dict[Key, Run], graders: Graders) -> None:
        self._columns = columns
        self._runs = runs
        self._graders = graders
        self._numbering = CaseNumbering()
        self._numbers: dict[tuple[Key, Any], tuple[str, int]] = {}

    def items_of(self, row: Row) -> Iterator[Item]:
        data = row.data
        if not isinstance(data, dict):
            raise TypeError("not a result")
        key, name = self._columns.key_of(data), self._columns.naming.name(data)
        run = self._runs[key]
        index = self._numbering.next((key, name))
        case = case_of(run, name, data, row.ref)
        if self._numbering.is_news(case):
            yield case
        yield attempt_of(data, row.ref, self._place(key, name, index, data.get("testIdx")), self._graders)

    def owner(self, row: Row) -> str:
        return self._runs[self._columns.key_of(row.data)].id

    def _place(self, key: Key, name: str, index: int, number: Any) -> RowPlace:
        """Repeats have numbers of their own; a row whose number occurred before is the same row twice."""
        first = self._numbers.setdefault((key, number), (name, index)) if isinstance(number, int) else (name, index)
        twice = first[0] == name and first[1] != index
        return RowPlace(self._runs[key], name, index, first[1] if twice else None)


class _RowId(msgspec.Struct):
    id: str


def document_of_rows(path: Path) -> Path | None:
    """The document of the same evaluation in the folder of a file of rows, found by the ids of the rows."""
    if not _fits(path):
        return None
    ids = _ids(path)
    for beside in islice(children(path.parent), LOOKS) if ids else ():
        if beside != path and is_document(head_of(beside, HEAD)) and _fits(beside):
            document = beside.read_bytes()
            if all(ident in document for ident in ids):
                return beside
    return None


def _ids(path: Path) -> list[bytes]:
    """Empty if a row has no id."""
    rows = [row for row in json_lines(path, source=NAME, root=path, usual=_RowId) if isinstance(row, Row)]
    ids = [row.data.id for row in rows if isinstance(row.data, _RowId) and row.data.id]
    return [f'"{ident}"'.encode() for ident in ids] if len(ids) == len(rows) else []


def _fits(path: Path) -> bool:
    try:
        return path.stat().st_size <= WHOLE
    except OSError:
        return False


# --- the runs of an evaluation: one per column, with promptfoo's own numbers. All are in one group


LONGEST_CONFIG = 1024 * 1024
_METRICS = ("tokenUsage", "cost")
_STATED = ("raw", "label", "display", "id", "provider", "metrics")
_MACHINE = ("promptfooVersion", "nodeVersion", "platform", "arch")
PASS_RATE = "pass rate"  # noqa: S105 a rate
ALL_COLUMNS = "all columns of the evaluation"
_OF_COLUMN = (("testPassCount", "passed"), ("testFailCount", "failures"), ("testErrorCount", "errors"))
_OF_ALL = (("successes", "passed"), ("failures", "failures"), ("errors", "errors"))
_SUMS = ("score", "assertPassCount", "assertFailCount", "totalLatencyMs")


def run_of(evaluation: PromptfooEvaluation, column: PromptfooColumn, columns: int, path: Path) -> Run:
    metrics = mapping(column.entry.get("metrics"))
    judges = sorted({scorer.model for scorer in column.scorers.values() if scorer.model})
    prompt = "" if "prompt" not in column.variant else f" · {column.variant['prompt']}"
    return Run(
        native_id=evaluation.native_id,
        group=evaluation.native_id,
        source=SourceInfo(name=NAME, format_version=evaluation.version),
        name=one_line(f"{column.provider_label or column.provider_id}{prompt}", 200),
        subject=column.subject,
        roles={"judge": judges[0]} if len(judges) == 1 else {},
        variant=column.variant,
        suite=suite_of(evaluation.config),
        suite_version=evaluation.dataset,
        started_at=evaluation.created,
        finished_at=_finish_time(evaluation),
        reported=reported(evaluation, column, alone=columns == 1),
        scorers=tuple(column.scorers.values()),
        context=_context(evaluation, column),
        environment=rest({key: evaluation.metadata.get(key) for key in _MACHINE}),
        usage=_usage(metrics),
        origin=str(path.parent),
        extra=_extra(evaluation, column, metrics),
        ref=evaluation.ref if column.at is None else _place(evaluation, column.at),
    )


def suite_of(config: dict[str, Any]) -> str:
    """The description, otherwise the file with the tests."""
    described_as = " ".join(text(config.get("description")).split())
    tests = config.get("tests")
    first = sequence(tests)[0] if len(sequence(tests)) == 1 else tests
    file = text(first) or text(mapping(first).get("path"))
    return described_as or PurePosixPath(file.removeprefix("file://").replace("\\", "/")).name or NAME


def _place(evaluation: PromptfooEvaluation, at: int) -> SourceRef:
    return SourceRef(file=evaluation.ref.file, pointer=f"{evaluation.prompts_at}/{at}")


def _finish_time(evaluation: PromptfooEvaluation) -> str | None:
    lasted = number(evaluation.stats.get("durationMs"))
    if evaluation.created is None or lasted is None or not evaluation.created.endswith("Z"):
        return None
    try:
        return from_milliseconds(parse(evaluation.created).timestamp() * 1000 + lasted)
    except (ValueError, OverflowError, OSError):
        return None


def _usage(metrics: dict[str, Any]) -> UsageByRole:
    tokens = mapping(metrics.get("tokenUsage"))
    judge = mapping(tokens.get("assertions"))
    return UsageByRole(subject=usage(tokens, number(metrics.get("cost"))), judge=usage(judge))


def _context(evaluation: PromptfooEvaluation, column: PromptfooColumn) -> tuple[Artefact, ...]:
    artefacts = []
    template = text(column.entry.get("raw"))
    if template:
        artefacts.append(Artefact(role="context", path="prompt", text=template, size=len(template.encode())))
    if evaluation.config:
        artefacts.append(_config(evaluation.config))
    return tuple(artefacts)


def _config(config: dict[str, Any]) -> Artefact:
    """Without the tests if these make it too long: the rows repeat them."""
    content = indented_json(without_secrets(config))
    cut = len(content) > LONGEST_CONFIG
    if cut:
        content = indented_json(without_secrets({key: value for key, value in config.items() if key != "tests"}))
    return Artefact(role="config", path="config", text=content, size=len(content.encode()), truncated=cut)


def _extra(evaluation: PromptfooEvaluation, column: PromptfooColumn, metrics: dict[str, Any]) -> dict[str, Any]:
    extra = {
        **evaluation.extra,
        **rest(evaluation.metadata, _MACHINE),
        "provider": without_secrets(column.provider),
        "prompt label": column.prompt.get("label") or column.prompt_label,
        "prompt id": column.prompt_id,
        "stated": _differing_entry(column),
        "column": rest(column.entry, _STATED),
        "metrics": rest(metrics, _METRICS),
        "stats": rest(evaluation.stats),
    }
    return rest(extra)


def _differing_entry(column: PromptfooColumn) -> dict[str, Any]:
    """The column's label and id, if the rows have others."""
    pairs = (("id", column.prompt_id), *((key, column.prompt.get(key)) for key in ("label", "display")))
    return rest({key: column.entry.get(key) for key, row in pairs if column.entry.get(key) != row})


def reported(evaluation: PromptfooEvaluation, column: PromptfooColumn, *, alone: bool) -> tuple[Reported, ...]:
    """`alone`: it is the only column, so the numbers of the whole evaluation are its own."""
    metrics, stats = mapping(column.entry.get("metrics")), evaluation.stats
    ref = SourceRef(file=evaluation.ref.file, pointer=f"{evaluation.prompts_at}/{column.at}/metrics")
    place = SourceRef(file=evaluation.ref.file, pointer=evaluation.stats_at)
    rate, overall = _rate(metrics, _OF_COLUMN, ref), _rate(stats, _OF_ALL, place)
    headline = rate or (overall if alone else None) or Reported(name=PASS_RATE, metric="pass_rate", headline=True)
    of_all = _counts(stats, _OF_ALL, place)
    if not alone:
        # the rows of one column can't confirm these
        of_all = [_of_whole(one) for one in (*of_all, overall) if one is not None]
    return (headline, *_counts(metrics, _OF_COLUMN, ref), *_sums(metrics, ref), *of_all)


def _counts(counts: dict[str, Any], names: tuple[tuple[str, str], ...], ref: SourceRef) -> list[Reported]:
    return [
        Reported(name=name, metric=metric, value=value, ref=ref)
        for name, metric in names
        if (value := number(counts.get(name))) is not None
    ]


def _rate(counts: dict[str, Any], names: tuple[tuple[str, str], ...], ref: SourceRef) -> Reported | None:
    """As promptfoo prints it; older versions counted errors as failures."""
    passed, *others = (number(counts.get(name)) for name, _ in names)
    if passed is None or others[0] is None:
        return None
    total = passed + sum(other or 0 for other in others)
    # without a denominator: if that were changed along with the rate, a recount could not detect it
    value = passed / total if total else None
    return Reported(name=PASS_RATE, metric="pass_rate", value=value, headline=True, ref=ref)


def _of_whole(number_reported: Reported) -> Reported:
    metric = "count" if number_reported.metric != "pass_rate" else number_reported.metric
    return Reported(
        name=number_reported.name,
        metric=metric,
        filter=ALL_COLUMNS,
        value=number_reported.value,
        ref=number_reported.ref,
    )


def _sums(metrics: dict[str, Any], ref: SourceRef) -> list[Reported]:
    sums = [
        Reported(name=name, metric="sum", reducer="sum", value=value, ref=ref)
        for name in _SUMS
        if (value := number(metrics.get(name))) is not None
    ]
    weights = mapping(metrics.get("namedScoreWeights")) or mapping(metrics.get("namedScoresCount"))
    for name, score in mapping(metrics.get("namedScores")).items():
        weight = number(weights.get(name))
        sums.append(
            Reported(
                name=name,
                metric="named_score",
                reducer="sum",
                value=number(score),
                n=int(weight) if weight is not None else None,
                ref=ref,
            )
        )
    return sums
