"""Where models differ: each pair is tested in one place of the report."""

from tests.report.test_comparison_measurement import a_pair

from errata.model.output.report.comparison import ModelComparison, ModelPair
from errata.report.comparison_differences import differences_section


def model_pair(**changes):
    given = {"first": "a", "second": "b", "cases": 30, "difference": 0.1, "interval": (0.0, 0.2), "p": 0.04}
    return ModelPair(**given | {"adjusted": 0.12, "by_attempts": False} | changes)


def models(*pairs):
    return ModelComparison(ranking=(), pairs=pairs, deviations=(), significant=0, tested=0)


def test_pairs_of_models_with_several_runs_and_tests_by_attempts_are_shown():
    pooled, by_attempts = model_pair(first="both runs of a"), model_pair(by_attempts=True)
    section = differences_section(models(pooled, by_attempts), None, "case", [a_pair()])

    assert section is not None
    assert len(section.blocks[-1].rows) == 2
