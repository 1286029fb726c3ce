"""The runs of an evaluation: one per column, with promptfoo's own numbers. All are in one group."""

from pathlib import Path, PurePosixPath
from typing import Any

from errata.model import Artefact, Reported, Run, SourceInfo, SourceRef, UsageByRole
from errata.model.times import from_milliseconds, parse
from errata.sources.promptfoo import NAME
from errata.sources.promptfoo.attempts import usage
from errata.sources.promptfoo.columns import PromptfooColumn
from errata.sources.promptfoo.evaluation import PromptfooEvaluation
from errata.sources.promptfoo.values import rest, without_secrets
from errata.sources.shared.values import indented_json, mapping, number, sequence, text
from errata.text.clean import one_line

LONGEST_CONFIG = 1024 * 1024

_METRICS = ("tokenUsage", "cost")
_STATED = ("raw", "label", "display", "id", "provider", "metrics")
_MACHINE = ("promptfooVersion", "nodeVersion", "platform", "arch")
PASS_RATE = "pass rate"  # noqa: S105 a rate
WHOLE = "all columns of the evaluation"
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
        name=number_reported.name, metric=metric, filter=WHOLE, value=number_reported.value, ref=number_reported.ref
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
