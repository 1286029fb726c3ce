"""A run and the tallies of its attempts → the summary of an evaluation: names, file path and results."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple
from uuid import UUID

from errata.model import Attempt, Check, Run
from errata.model.identity import fingerprint
from errata.model.times import moment_of
from errata.sources.shared.values import as_text
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import for_others, tree_for_others

_ARGUMENTS = ("temperature", "top_p", "top_k", "max_tokens")
_MEANS = frozenset(("mean", "accuracy"))
ROUNDED = 0.005

Summary = dict[str, Any]
SCHEMA = "0.3.0"
UNKNOWN = "unknown"
_NOT_PORTABLE = lazy_regex(r"[^A-Za-z0-9._-]+")
OUTCOME = "outcome"


class EvaluationNames(NamedTuple):
    evaluation_id: str
    evaluation_name: str
    model_id: str
    developer: str
    folder: str
    stem: str
    suite: str


LONGEST_NAME = 100
"""File systems take 255 bytes for a name."""


def naming_of(run: Run) -> EvaluationNames:
    """Depends only on the run: exporting it again writes the same files."""
    name = for_others(run.suite or run.name or run.source.name)
    model = for_others(run.subject.model or run.subject.agent or UNKNOWN)
    prefix, slash, rest = model.partition("/")
    developer = prefix if slash else for_others(run.subject.provider) or UNKNOWN
    folder = "/".join(("data", *map(_portable, (name, developer, rest if slash else model))))
    made = UUID(bytes=bytes.fromhex(fingerprint(run.id, size=16)), version=4)
    return EvaluationNames(
        f"{name}/{model.replace('/', '_')}/{run.id}", name, model, developer, folder, str(made), run.suite
    )


def _portable(name: str) -> str:
    """At most as long as a file name may be; the files in the folder keep runs apart."""
    portable = _NOT_PORTABLE.sub("_", name).strip("._")[:LONGEST_NAME].rstrip("._") or UNKNOWN
    return f"{portable}_" if portable == "data" else portable


class ValueTally:
    """Running totals of the values of one result."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.lowest, self.highest = float("inf"), float("-inf")
        self.is_binary = True
        self.is_averaged = False
        """Whether some attempts have several values, by several judges, which are averaged."""

    def add(self, value: float, *, of: int = 1) -> None:
        self.is_averaged = self.is_averaged or of > 1
        self.count += 1
        self.total += value
        self.lowest, self.highest = min(self.lowest, value), max(self.highest, value)
        self.is_binary = self.is_binary and value in (0, 1)

    @property
    def mean(self) -> float | None:
        return self.total / self.count if self.count else None


class Tallies:
    """The tallies of a run: its headline, and each numeric check that most attempts have."""

    def __init__(self, run: Run) -> None:
        self.headline = next((one for one in run.reported if one.headline), None)
        self.main = ValueTally()
        self._graded = ValueTally()
        self.losses: Counter[str] = Counter()
        self._attempts = 0
        self._checks: dict[str, ValueTally] = {}
        self._scorers = {one.name for one in run.scorers}

    @property
    def primary(self) -> str:
        return self.headline.name if self.headline and self.headline.name else OUTCOME

    def add(self, attempt: Attempt) -> None:
        self._attempts += 1
        if self.counts(attempt):
            self.main.add(self.score_of(attempt))
            if attempt.reported is not None:
                self._graded.add(attempt.reported)
        for name, checks in self.checks_of(attempt).items():
            self._checks.setdefault(name, ValueTally()).add(mean_of(checks), of=len(checks))

    def checks_of(self, attempt: Attempt) -> dict[str, list[Check]]:
        """Numeric checks by name, without the check that is the headline itself."""
        by_name: dict[str, list[Check]] = {}
        for check in attempt.checks:
            if value_of(check) is not None and not check.is_primary and check.name != self.primary:
                by_name.setdefault(check.name, []).append(check)
        return by_name

    def score_of(self, attempt: Attempt) -> float:
        """The attempt's part in the main result: pass or fail if that is a pass rate, else its score."""
        if attempt.reported is None or self._is_rate:
            return float(attempt.outcome == "pass")
        return attempt.reported

    @property
    def _is_rate(self) -> bool:
        return self.headline is not None and self.headline.metric == "pass_rate"

    @property
    def graded(self) -> tuple[str, ValueTally] | None:
        """Graded scores beside a pass rate, with their name; None if scores are binary."""
        if not self._is_rate or self._graded.is_binary or self.headline is None:
            return None
        return self.headline.scorer or "score", self._graded

    def counts(self, attempt: Attempt) -> bool:
        """Whether the harness's headline includes this attempt; without a headline, whether it was measured."""
        if self.headline is not None and attempt.reported_counted is not None:
            return attempt.reported_counted
        return attempt.measurement == "scored" and attempt.outcome != "none"

    @property
    def measures(self) -> dict[str, ValueTally]:
        """Without checks of only a few cases, such as a test of one task: these are not results of the run."""
        return {
            name: tally
            for name, tally in self._checks.items()
            if name in self._scorers or 2 * tally.count > self._attempts
        }


def mean_of(checks: Sequence[Check]) -> float:
    return fmean(value for check in checks if (value := value_of(check)) is not None)


def value_of(check: Check) -> float | None:
    return float(check.value) if isinstance(check.value, bool | int | float) else None


def summary_of(run: Run, naming: EvaluationNames, tallies: Tallies, *, now: float, written_by: str) -> Summary:
    """The summary without its instances; `now` is the time of writing in seconds since 1970."""
    when = _since_1970(run.started_at)
    lost = {what: count for what, count in sorted(tallies.losses.items()) if count}
    details = {"written_by": written_by, "run_id": run.id, "native_id": run.native_id}
    details |= {"not_expressed": "; ".join(f"{what}: {count}" for what, count in lost.items())} if lost else {}
    summary: Summary = {
        "evaluation_id": naming.evaluation_id,
        **({"evaluation_timestamp": when} if when else {}),
        "retrieved_timestamp": f"{now:.0f}",
        "source_metadata": {
            "source_name": run.source.name,
            "source_type": "evaluation_run",
            "source_organization_name": UNKNOWN,
            "evaluator_relationship": "other",
            "additional_details": details,
        },
        "eval_library": {"name": run.source.name, "version": run.source.format_version or UNKNOWN},
        "model_info": _model(run, naming),
        "evaluation_results": list(_results(run, naming, tallies)),
    }
    # ids and names are already redacted
    return {"schema_version": SCHEMA, **tree_for_others(summary), "evaluation_id": naming.evaluation_id}


def with_instances(summary: Summary, naming: EvaluationNames, *, rows: int, checksum: str) -> Summary:
    instances = {
        "format": "jsonl",
        "file_path": f"{naming.folder}/{naming.stem}_samples.jsonl",
        "hash_algorithm": "sha256",
        "checksum": checksum,
        "total_rows": rows,
    }
    return summary | {"detailed_evaluation_results": instances}


def _model(run: Run, naming: EvaluationNames) -> Summary:
    details = {"deployment_type": UNKNOWN, "model_availability": UNKNOWN}
    agent = " ".join(filter(None, (run.subject.agent, run.subject.agent_version)))
    platform = {"inference_platform": run.subject.provider} if run.subject.provider else {}
    return {
        "name": run.subject.model or naming.model_id,
        "id": naming.model_id,
        "developer": naming.developer,
        **platform,
        "additional_details": details | ({"agent": agent} if agent else {}),
    }


def _results(run: Run, naming: EvaluationNames, tallies: Tallies) -> Iterator[Summary]:
    headline = tallies.headline
    stated = headline.value if headline else None
    score = tallies.main.mean if stated is None else stated
    shared = _shared(run, naming)
    if score is not None:
        kind = "pass_rate" if headline is None else "mean" if headline.metric in _MEANS else headline.metric
        details = {"number": "as the harness states it" if stated is not None else "counted from the rows"}
        yield shared | _result(run, tallies.primary, kind, tallies.main, score) | _details(score, run, tallies, details)
    for name, tally in ((tallies.graded,) if tallies.graded else ()) + tuple(tallies.measures.items()):
        if tally.mean is not None:
            yield shared | _result(run, name, "mean", tally, tally.mean) | {"score_details": _of_values(tally)}


def _shared(run: Run, naming: EvaluationNames) -> Summary:
    given = {name: value for name in _ARGUMENTS if isinstance(value := run.subject.params.get(name), int | float)}
    if given.get("max_tokens", 1) < 1 or not isinstance(given.get("max_tokens", 1), int):
        del given["max_tokens"]
    others = {key: as_text(value) for key, value in run.subject.params.items() if key not in given}
    made: Summary = {
        "evaluation_name": naming.evaluation_name,
        "source_data": {"dataset_name": naming.evaluation_name, "source_type": "other"},
    }
    if given or others:
        config = {"generation_args": given or None, "additional_details": others or None}
        made["generation_config"] = {name: one for name, one in config.items() if one}
    return made


def _result(run: Run, name: str, kind: str, tally: ValueTally, score: float) -> Summary:
    scorer = next((one for one in run.scorers if one.name == name), None)
    config: Summary = {
        "metric_id": f"{run.source.name}.{name}",
        "metric_name": name,
        "metric_kind": kind,
        "lower_is_better": scorer.lower_is_better if scorer else False,
        **_bounds(tally, score),
    }
    if scorer is not None and (scorer.model or scorer.threshold is not None):
        details = {"judge": scorer.model, "threshold": "" if scorer.threshold is None else f"{scorer.threshold:g}"}
        config["additional_details"] = {key: one for key, one in details.items() if one}
    return {"evaluation_result_id": name, "metric_config": config}


def _bounds(tally: ValueTally, score: float) -> Mapping[str, Any]:
    """Only if all values are between 0 and 1: logs do not contain the bounds of a metric."""
    if not tally.count or not 0 <= min(tally.lowest, score) <= max(tally.highest, score) <= 1:
        return {}
    return {"score_type": "binary" if tally.is_binary else "continuous", "min_score": 0.0, "max_score": 1.0}


def _details(score: float, run: Run, tallies: Tallies, details: dict[str, str]) -> Summary:
    headline = tallies.headline
    uncertainty: Summary = {"num_samples": n} if (n := _n(run, tallies)) is not None else {}
    if headline is not None and headline.stderr is not None:
        uncertainty["standard_error"] = {"value": headline.stderr}
    return {
        "score_details": {"score": score, "details": details, **({"uncertainty": uncertainty} if uncertainty else {})}
    }


def _n(run: Run, tallies: Tallies) -> int | None:
    """The sample count: the harness's own, else the number of rows if these give the same result."""
    headline, main = tallies.headline, tallies.main
    if headline is None or headline.value is None:
        return main.count
    if headline.n is not None:
        return headline.n
    same = main.mean is not None and abs(main.mean - headline.value) <= ROUNDED
    return main.count if same else run.measured_attempts


def _of_values(tally: ValueTally) -> Summary:
    details = {"details": {"number": "the mean over attempts of the mean of their judges"}} if tally.is_averaged else {}
    return {"score": tally.mean, **details, "uncertainty": {"num_samples": tally.count}}


def _since_1970(moment: str | None) -> str:
    return f"{moment_of(moment).timestamp():.0f}" if moment else ""
