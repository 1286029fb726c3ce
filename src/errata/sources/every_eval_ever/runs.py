"""The summary of an evaluation → its runs, one per `evaluation_name`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Reported, Run, Scorer, ScoreScale, SourceInfo, SourceRef, Subject
from errata.sources.base import number_or_none
from errata.sources.every_eval_ever import NAME
from errata.sources.shared.values import (
    count,
    mapping,
    moment_since_1970,
    non_empty,
    number,
    rest,
    sequence,
    settings,
    text,
)

# metrics whose value is the mean over the instances
_MEANS = frozenset(
    ("accuracy", "acc", "acc_norm", "mean", "exact_match", "quasi_exact_match", "prefix_exact_match",
     "quasi_prefix_exact_match", "f1", "f1_score", "pass@1", "pass_rate", "win_rate", "correct")
)  # fmt: skip
_DOCUMENT = frozenset(("schema_version", "evaluation_id", "evaluation_timestamp", "model_info", "evaluation_results"))
_RESULT = frozenset(
    ("evaluation_result_id", "evaluation_name", "metric_config", "score_details", "evaluation_timestamp")
)
_MODEL = ("name", "inference_platform")


class EvaluationResult(NamedTuple):
    """One number of an evaluation."""

    data: dict[str, Any]
    ref: SourceRef

    @property
    def id(self) -> str:
        return text(self.data.get("evaluation_result_id"))

    @property
    def config(self) -> dict[str, Any]:
        return mapping(self.data.get("metric_config"))

    @property
    def metric(self) -> str:
        return text(self.config.get("metric_name")) or text(self.config.get("metric_id"))


class EvaluationSummary:
    def __init__(self, data: dict[str, Any], ref: SourceRef) -> None:
        self.data = data
        self.ref = ref
        listed = [mapping(one) for one in sequence(data.get("evaluation_results"))]
        self.results = [EvaluationResult(one, ref.below("evaluation_results", at)) for at, one in enumerate(listed)]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(text(one.data.get("evaluation_name")) for one in self.results))

    def of(self, name: str) -> list[EvaluationResult]:
        return [one for one in self.results if text(one.data.get("evaluation_name")) == name]

    @property
    def detailed_results(self) -> dict[str, Any]:
        return mapping(self.data.get("detailed_evaluation_results"))


def run_of(summary: EvaluationSummary, name: str, results: list[EvaluationResult], path: Path, *, several: bool) -> Run:
    data = summary.data
    ident, info = text(data.get("evaluation_id")) or path.stem, mapping(data.get("model_info"))
    return Run(
        native_id=f"{ident}/{name}" if several else ident,
        group=ident if several else "",
        source=SourceInfo(name=NAME, format_version=text(data.get("schema_version"))),
        subject=_subject(info),
        suite=name,
        expected_cases=_expected(results),
        measured_attempts=_sample_count(results),
        measured_unit="cases",
        started_at=moment_since_1970(number_or_none(_since(data, results))),
        reported=tuple(_reported(results)),
        scorers=tuple(_scorer(one) for one in results),
        scale=_scale(results[0].config) if results else None,
        origin=str(path.parent),
        extra=_extra(data, results),
        ref=results[0].ref if results else summary.ref,
    )


def _subject(info: dict[str, Any]) -> Subject:
    name = text(info.get("name")) or text(info.get("id"))
    return Subject(model=name, provider=text(info.get("inference_platform")), extra=rest(info, _MODEL))


def _since(data: dict[str, Any], results: list[EvaluationResult]) -> Any:
    timestamps = [one.data.get("evaluation_timestamp") for one in results]
    return data.get("evaluation_timestamp") or next(filter(None, timestamps), None)


def _expected(results: list[EvaluationResult]) -> int | None:
    sources = [mapping(one.data.get("source_data")) for one in results]
    return next((size for one in sources if (size := count(one.get("samples_number"))) is not None), None)


def _sample_count(results: list[EvaluationResult]) -> int | None:
    """The number of samples of the first result."""
    uncertainty = mapping(mapping(results[0].data.get("score_details")).get("uncertainty")) if results else {}
    return count(uncertainty.get("num_samples"))


def _reported(results: list[EvaluationResult]) -> Iterator[Reported]:
    for at, result in enumerate(results):
        details = mapping(result.data.get("score_details"))
        uncertainty = mapping(details.get("uncertainty"))
        error = mapping(uncertainty.get("standard_error"))
        kind = text(result.config.get("metric_kind"))
        yield Reported(
            name=result.id or result.metric,
            metric="mean" if result.metric in _MEANS or kind in _MEANS else result.metric,
            scorer=result.id,
            value=number(details.get("score")),
            stderr=number(error.get("value")),
            n=count(uncertainty.get("num_samples")),
            headline=at == 0,
            extra=non_empty(
                metric_config=rest(result.config),
                details=rest(details, ("score", "uncertainty")),
                uncertainty=rest(uncertainty, ("standard_error", "num_samples")),
                standard_error=rest(error, ("value",)),
            ),
            ref=result.ref.below("score_details"),
        )


def _scorer(result: EvaluationResult) -> Scorer:
    judges = [text(mapping(judge).get("model")) or text(mapping(mapping(judge).get("model_info")).get("name"))
              for judge in sequence(mapping(result.config.get("llm_scoring")).get("judges"))]  # fmt: skip
    return Scorer(
        name=result.id or result.metric,
        kind="judge" if mapping(result.config.get("llm_scoring")) else "code",
        model=", ".join(filter(None, judges)),
        lower_is_better=result.config.get("lower_is_better") is True,
    )


def _scale(config: dict[str, Any]) -> ScoreScale | None:
    """The range of the first result, as the summary states it."""
    lowest, highest = number(config.get("min_score")), number(config.get("max_score"))
    if lowest is None or highest is None or lowest >= highest:
        return None
    return ScoreScale(lowest=lowest, highest=highest)


def _extra(data: dict[str, Any], results: list[EvaluationResult]) -> dict[str, Any]:
    """Fields that all results of a run share are kept once."""
    beside = [rest(one.data, _RESULT) for one in results]
    shared = (
        {key: value for key, value in beside[0].items() if all(one.get(key) == value for one in beside)}
        if beside
        else {}
    )
    own = [{key: value for key, value in one.items() if key not in shared} for one in beside]
    times = [one.data.get("evaluation_timestamp") for one in results]
    extra: dict[str, Any] = settings(rest(data, _DOCUMENT))
    return extra | non_empty(
        results=shared,
        of_each=own if any(own) else None,
        times=times if any(one != data.get("evaluation_timestamp") for one in times) else None,
    )
