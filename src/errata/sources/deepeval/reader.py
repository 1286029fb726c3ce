"""A file of deepeval → its run and its cases. A run has no id and no time; its id is a fingerprint of all cases."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from errata.model import Item, Reported, Run, SourceInfo, SourceRef, Subject, Unreadable, Usage, UsageByRole
from errata.model.identity import fingerprint
from errata.sources.base import convert_each, of_run
from errata.sources.deepeval import NAME, latest_in
from errata.sources.deepeval.cases import items_of, scorers_of
from errata.sources.deepeval.results import TestRun, objects, results_at
from errata.sources.shared.runs import CaseNumbering
from errata.sources.shared.values import (
    as_text,
    count,
    last_part,
    mapping,
    non_empty,
    number,
    reported_cost,
    rest,
    sequence,
    settings,
    text,
)

_RUN = frozenset(
    ("identifier", "test_file", "dataset_alias", "dataset_version", "hyperparameters", "metrics_scores", "test_passed",
     "test_failed", "evaluation_cost", "test_run_id")
)  # fmt: skip
_MODEL = ("model", "model_name", "llm")


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    root = path if path.is_dir() else path.parent
    seen: set[str] = set()
    for file in latest_in(path) if path.is_dir() else [path]:
        test_run = results_at(file, root)
        if isinstance(test_run, Unreadable):
            yield test_run
            continue
        run = run_of(test_run, root)
        if run.id in seen:
            continue
        seen.add(run.id)
        yield run
        yield from of_run(run.id, iter(test_run.problems))
        yield from of_run(run.id, convert_each(test_run.rows(), partial(items_of, run, CaseNumbering()), source=NAME))


def run_of(test_run: TestRun, root: Path) -> Run:
    header = test_run.header
    given: dict[str, Any] = settings(mapping(header.get("hyperparameters")))
    model, named = next(((given[name], name) for name in _MODEL if isinstance(given.get(name), str)), ("", None))
    suite = text(header.get("dataset_alias")) or last_part(header.get("test_file"))
    # the duration distinguishes runs with equal results
    took = header.get("run_duration")
    mark = test_run.mark if took is None else fingerprint(test_run.mark, as_text(took), size=6)
    spent = number(header.get("evaluation_cost"))
    scorers = scorers_of(test_run.cases())
    judges = {one.model: "" for one in scorers if one.model}
    return Run(
        native_id=text(header.get("test_run_id")) or f"{text(header.get('identifier')) or suite or 'test_run'}-{mark}",
        source=SourceInfo(name=NAME),
        name=text(header.get("identifier")),
        subject=Subject(model=model, params={key: one for key, one in given.items() if key != named}),
        roles={"judge": ", ".join(judges)} if judges else {},
        suite=suite,
        suite_version=text(header.get("dataset_version")),
        reported=tuple(_reported(test_run)),
        scorers=scorers,
        usage=UsageByRole(judge=Usage(**reported_cost(spent))),
        origin=str(root),
        extra=rest(header, _RUN)
        | non_empty(test_file=header.get("test_file") if last_part(header.get("test_file")) else None),
        ref=test_run.ref,
    )


def _reported(test_run: TestRun) -> Iterator[Reported]:
    header, ref = test_run.header, test_run.ref
    passed, failed = count(header.get("test_passed")), count(header.get("test_failed"))
    whole = None if passed is None or failed is None else passed + failed
    yield Reported(
        name="pass rate",
        metric="mean",
        value=passed / whole if passed is not None and whole else None,
        n=whole,
        headline=True,
        extra=non_empty(passed=passed, failed=failed),
        ref=ref if whole is None else ref.below("testPassed"),
    )
    flaky = {
        text(entry.get("name"))
        for case in test_run.cases()
        for entry in objects(case.get("metrics_data"))
        if entry.get("flaky")
    }
    for at, metric in enumerate(objects(header.get("metrics_scores"))):
        can_be_recounted = not header.get("trace_metrics_scores") and text(metric.get("metric")) not in flaky
        yield _of_metric(metric, ref.below("metricsScores", at), can_be_recounted=can_be_recounted)


def _of_metric(metric: dict[str, Any], ref: SourceRef, *, can_be_recounted: bool) -> Reported:
    """`errors` counts metrics that raised or have no threshold; `scores` omits them.

    Metrics of spans and flaky ones are included in the counts.
    """
    counts = [count(metric.get(name)) for name in ("passes", "fails", "errors")]
    return Reported(
        name=text(metric.get("metric")),
        metric="passes" if can_be_recounted else "passes of all",
        value=number(metric.get("passes")),
        n=sum(one or 0 for one in counts),
        extra=non_empty(fails=counts[1], errors=counts[2], scores=sequence(metric.get("scores"))),
        ref=ref,
    )
