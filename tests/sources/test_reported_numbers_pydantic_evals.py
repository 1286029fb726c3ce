"""The averages that pydantic-evals prints, recomputed from its cases: it writes none of them down."""

import json
from collections import defaultdict
from statistics import fmean
from typing import Any

import pytest
from changed_logs import change, copy_of
from test_reported_numbers import data, named, recomputed, value_of


def printed(report: dict[str, Any]) -> float:
    """Of each case all that was asserted of its repeats, and then the mean of the cases; of scores the same."""
    groups: dict[str, list[float]] = defaultdict(list)
    for case in report["cases"]:
        result = case["assertions"] or case["scores"]
        groups[case["source_case_name"] or ""] += [float(one["value"]) for one in result.values()]
    return fmean(fmean(values) for values in groups.values() if values)


@pytest.mark.parametrize("path", data("pydantic_evals"), ids=named)
def test_the_average_of_a_report(path):
    for file, _, score in recomputed(path):
        assert value_of(score) == pytest.approx(printed(json.loads(file.read_text())))


def test_cases_with_more_assertions_weigh_more_and_that_is_not_recomputed(tmp_path):
    log = copy_of("pydantic_evals/repeats", tmp_path)

    def how(report):
        for case in report["cases"]:
            case["source_case_name"] = None

    change(log / "report.json", how)
    ((_, _, score),) = recomputed(log)

    assert (score["note"]["code"], score["note"]["words"]) == ("rule_unknown", ["share of all assertions"])
