"""A summary with the instances beside it, a summary alone, or instances alone → runs, cases and attempts."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from errata.model import Item, Run, SourceRef
from errata.sources.base import Row, convert_each, head_of, is_file, json_file, json_lines, unreadable
from errata.sources.every_eval_ever import HEAD, NAME, SAMPLES, is_samples, read_with
from errata.sources.every_eval_ever.instances import EvaluationContext, SampleKey, items_of
from errata.sources.every_eval_ever.runs import EvaluationSummary, run_of
from errata.sources.shared.row_groups import read_groups
from errata.sources.shared.values import last_part, text


class _RowHead(msgspec.Struct):
    """The fields of a row about its evaluation."""

    schema_version: Any = None
    evaluation_id: Any = None
    model_id: Any = None
    evaluation_name: Any = None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    path = read_with(path) or path
    if is_samples(head_of(path, HEAD)):
        yield from _evaluation(EvaluationSummary({}, SourceRef(file=path.name)), path, path)
        return
    document = json_file(path, source=NAME, root=path)
    if not isinstance(document, Row):
        yield document
    elif not isinstance(document.data, dict):
        yield unreadable(NAME, document.ref, "expected an object")
    else:
        summary = EvaluationSummary(document.data, document.ref)
        yield from _evaluation(summary, path, samples_of(path, text(summary.detailed_results.get("file_path"))))


def _evaluation(summary: EvaluationSummary, path: Path, samples: Path | None) -> Iterator[Item]:
    heads = _heads(samples) if samples else {}
    if not summary.data and heads:
        summary.data |= _summary_of_head(next(iter(heads.values())))
    names = list(dict.fromkeys((*summary.names, *heads))) or [""]
    if samples is None and len(names) > 1:
        # a summary alone: all of its results belong to one run
        yield run_of(summary, text(summary.data.get("evaluation_id")), summary.results, path, several=False)
        return
    runs = {name: run_of(summary, name, summary.of(name), path, several=len(names) > 1) for name in names}
    yield from runs.values()
    if samples is not None:
        contexts = {name: EvaluationContext(run, summary.of(name)) for name, run in runs.items()}
        rows = read_groups(samples, SampleKey, SampleKey.key, source=NAME, root=path.parent)
        yield from convert_each(rows, partial(_items, contexts), source=NAME, owner=partial(_owner, runs))


def _heads(samples: Path) -> dict[str, _RowHead]:
    """The first row of each evaluation, by its name."""
    heads: dict[str, _RowHead] = {}
    for row in json_lines(samples, source=NAME, root=samples, usual=_RowHead):
        if isinstance(row, Row) and isinstance(row.data, _RowHead):
            heads.setdefault(text(row.data.evaluation_name), row.data)
    return heads


def _summary_of_head(head: _RowHead) -> dict[str, Any]:
    return {
        "schema_version": head.schema_version,
        "evaluation_id": head.evaluation_id,
        "model_info": {"name": head.model_id},
    }


def _items(contexts: dict[str, EvaluationContext], row: Row) -> Iterator[Item]:
    return items_of(contexts[text(row.data[0].data.get("evaluation_name"))], row)


def _owner(runs: dict[str, Run], row: Row) -> str:
    return runs[text(row.data[0].data.get("evaluation_name"))].id


def samples_of(summary: Path, file_path: str) -> Path | None:
    """The instances beside a summary; `file_path` is its own path to them, on the machine that wrote it."""
    names = [name for name in (last_part(file_path), f"{summary.stem}{SAMPLES}") if name]
    return next((found for name in names if is_file(found := summary.with_name(name))), None)
