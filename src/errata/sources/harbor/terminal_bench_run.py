"""A run of terminal-bench as a whole: `results.json` counts it, `run_metadata.json` says what it was."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from errata.model import Code, Reported, Run, SourceInfo, SourceRef, Subject
from errata.sources.harbor.layout import NAME
from errata.sources.harbor.trials import model_of
from errata.sources.shared.values import (
    count,
    known,
    last_part,
    mapping,
    moment,
    number,
    rest,
    sequence,
    settings,
    text,
)

SUITE = "terminal-bench"
_VERSION = re.compile(r"v?\d+(?:\.\d+)*$|head$")
_METADATA = frozenset(
    [
        "run_id",
        "uuid",
        "dataset_name",
        "dataset_version",
        "agent_name",
        "model_name",
        "accuracy",
        "pass_at_k",
        "start_time",
        "end_time",
        "commit_hash",
        "agent_kwargs",
        "task_ids",
    ]
)
_COUNTED = frozenset(
    ["id", "results", "pass_at_k", "n_resolved", "n_unresolved", "resolved_ids", "unresolved_ids", "accuracy"]
)


def run_of(
    document: dict[str, Any],
    metadata: dict[str, Any],
    lock: dict[str, Any],
    *,
    rows: list[dict[str, Any]],
    root: Path,
    ref: SourceRef,
) -> Run:
    provider, model = model_of(text(metadata.get("model_name")))
    commit = text(metadata.get("commit_hash"))
    ended = moment(metadata.get("end_time"))
    return Run(
        native_id=text(metadata.get("run_id")) or text(document.get("id")) or root.name,
        external_id=text(metadata.get("uuid")) or text(document.get("id")),
        source=SourceInfo(name=NAME, format_version="terminal-bench"),
        name=text(metadata.get("run_id")),
        subject=Subject(
            model=model,
            provider=provider,
            agent=text(metadata.get("agent_name")),
            params=settings(mapping(metadata.get("agent_kwargs"))),
        ),
        suite=text(metadata.get("dataset_name")) or SUITE,
        suite_version=_suite_version(metadata),
        expected_cases=_expected(metadata),
        measured_attempts=_measured(document, len(rows)),
        started_at=moment(metadata.get("start_time")),
        finished_at=ended,
        native_status="running" if metadata and ended is None else "",
        reported=tuple(_reported(document, metadata, len(rows), ref)),
        code=Code(commit=commit) if commit not in ("", "unknown") else None,
        origin=str(root),
        ref=ref,
        extra=_extra(document, metadata, rows) | known(lock=settings(lock)),
    )


def _suite_version(metadata: dict[str, Any]) -> str:
    """As told, else as the folder of the dataset is called."""
    folder = last_part(metadata.get("dataset_path"))
    return text(metadata.get("dataset_version")) or (folder if _VERSION.match(folder) else "")


def _expected(metadata: dict[str, Any]) -> int | None:
    planned = {text(task) for task in sequence(metadata.get("task_ids"))} - {""}
    return len(planned) or count(metadata.get("dataset_size")) or None


def _measured(document: dict[str, Any], rows: int) -> int | None:
    """Where more trials were counted than there are rows."""
    counted = sum(count(document.get(name)) or 0 for name in ("n_resolved", "n_unresolved"))
    return counted if counted > rows else None


def _reported(document: dict[str, Any], metadata: dict[str, Any], n: int, ref: SourceRef) -> Iterator[Reported]:
    """The two files may disagree: a run that was killed has no accuracy in the one of them."""
    counted, told = number(document.get("accuracy")), number(metadata.get("accuracy"))
    other = SourceRef(file="run_metadata.json", pointer="/accuracy")
    first = counted if counted is not None else told
    place = SourceRef(file=ref.file, pointer="/accuracy") if counted is not None or told is None else other
    yield Reported(name="accuracy", metric="pass_rate", value=first, n=n, headline=True, ref=place)
    if told is not None and told != first:
        yield Reported(name="accuracy", metric="pass_rate", value=told, n=n, ref=other)
    if (resolved := number(document.get("n_resolved"))) is not None:
        yield Reported(name="n_resolved", metric="passed", value=resolved, n=n, ref=ref)
    if (unresolved := number(document.get("n_unresolved"))) is not None:
        yield Reported(name="n_unresolved", metric="n_unresolved", value=unresolved, n=n, ref=ref)
    for k, value in (mapping(metadata.get("pass_at_k")) | mapping(document.get("pass_at_k"))).items():
        yield Reported(name=f"pass@{k}", metric="pass_at_k", reducer=f"pass_at_{k}", value=number(value), ref=ref)


def _extra(document: dict[str, Any], metadata: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The lists of resolved and other tasks are kept where they are not what the rows say."""
    resolved = [row.get("task_id") for row in rows if row.get("is_resolved") is True]
    others = [row.get("task_id") for row in rows if row.get("is_resolved") is not True]
    lists = {
        name: document.get(name)
        for name, found in (("resolved_ids", resolved), ("unresolved_ids", others))
        if sorted(map(str, sequence(document.get(name)))) != sorted(map(str, found))
    }
    more: dict[str, Any] = settings(rest(metadata, _METADATA))
    told = known(id=document.get("id"), commit_hash=metadata.get("commit_hash"), **lists)
    return more | rest(document, _COUNTED) | told
