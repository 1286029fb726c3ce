"""The specification of a run and its final report → the run.

The report is written when the run ends, but buffered events may come after it: it may be in any line.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Reported, Run, SourceInfo, SourceRef, Subject
from errata.sources.base import BYTE_ORDER_MARK, LINE_CAP, READ_SIZE, decode
from errata.sources.openai_evals import NAME
from errata.sources.shared.values import as_text, mapping, moment, non_empty, number, rest, sequence, settings, text
from errata.text.lazy_regex import lazy_regex

HEADER = lazy_regex(rb'\s*\{\s*"(?:spec|final_report)"\s*:')
_SPEC = frozenset(("completion_fns", "eval_name", "base_eval", "split", "run_id", "created_at", "run_config"))
_CONFIG = ("completion_fns", "eval_spec")
_MEANS = ("accuracy", "score", "f1_score")
"""Numbers that the report averages over the samples; the first one in the report is the headline."""


class RunHeader(NamedTuple):
    spec: dict[str, Any]
    spec_ref: SourceRef
    report: dict[str, Any] | None
    report_ref: SourceRef

    @property
    def eval_spec(self) -> dict[str, Any]:
        return mapping(mapping(self.spec.get("run_config")).get("eval_spec"))

    @property
    def is_judged(self) -> bool:
        """Whether a model grades the answers; its own replies are then recorded among them."""
        return "modelgraded" in text(self.eval_spec.get("cls"))

    @property
    def lost_judgements(self) -> bool:
        return bool(number((self.report or {}).get("invalid_request_during_evaluation")))


def header_of(path: Path) -> RunHeader:
    place = SourceRef(file=path.name)
    header = RunHeader({}, place, None, place)
    try:
        with path.open("rb", buffering=READ_SIZE) as file:
            for number_, line in enumerate(iter(lambda: file.readline(LINE_CAP), b""), start=1):
                line = line.removeprefix(BYTE_ORDER_MARK)
                if HEADER.match(line):
                    header = _with(header, line, SourceRef(file=path.name, line=number_))
    except OSError:
        return header
    return header


def _with(header: RunHeader, line: bytes, ref: SourceRef) -> RunHeader:
    try:
        data = mapping(decode(line))
    except ValueError:
        return header
    if "spec" in data:
        return header._replace(spec=mapping(data["spec"]), spec_ref=ref)
    return header._replace(report=mapping(data["final_report"]), report_ref=ref)


def run_of(header: RunHeader, path: Path) -> Run:
    spec = header.spec
    models = [as_text(one) for one in sequence(spec.get("completion_fns"))]
    config: dict[str, Any] = settings(rest(mapping(spec.get("run_config")), _CONFIG))
    others = mapping(spec.get("run_config")).get("completion_fns")
    return Run(
        native_id=text(spec.get("run_id")) or path.stem,
        source=SourceInfo(name=NAME),
        subject=Subject(model=models[0] if models else ""),
        roles={"judge": models[-1]} if header.is_judged and len(models) > 1 else {},
        suite=text(spec.get("eval_name")) or text(spec.get("base_eval")),
        started_at=moment(spec.get("created_at")),
        # a finished run has a report
        native_status="started" if header.report is None else "",
        reported=tuple(_reported(header)),
        origin=str(path.parent),
        extra=rest(spec, _SPEC)
        | non_empty(
            base_eval=spec.get("base_eval"),
            split=spec.get("split"),
            eval_spec=settings(rest(header.eval_spec, ("key",))),
            registered=header.eval_spec.get("key") if header.eval_spec.get("key") != spec.get("eval_name") else None,
            run_config=config,
            models=models[1:],
            configured=others if others != spec.get("completion_fns") else None,
        ),
        ref=header.spec_ref,
    )


def _reported(header: RunHeader) -> Iterator[Reported]:
    report = header.report or {}
    headline = next((name for name in _MEANS if number(report.get(name)) is not None), "")
    for name, value in report.items():
        numeric = number(value)
        yield Reported(
            name=name,
            metric="mean" if name in _MEANS else name,
            value=numeric,
            headline=name == headline,
            extra=non_empty(value=value) if numeric is None else {},
            ref=header.report_ref.below("final_report", name),
        )
