"""Taxonomies: listed by a command, documented with an example that works, and shown in reports."""

import re
from pathlib import Path

import pytest

from reading import RUN_B, reviewed_next
from terminal import done, errata, import_fixtures

PAGE = (Path(__file__).parents[2] / "docs" / "taxonomies.md").read_text(encoding="utf-8")
EXAMPLE, SETTINGS = re.findall(r"^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def own_labels(tmp_path):
    """The example of the page, for convex-evals."""
    Path("taxonomies").mkdir()
    Path("taxonomies/my-agents.toml").write_text(EXAMPLE)
    Path("errata.toml").write_text(SETTINGS)
    done("trust")
    import_fixtures(RUN_B)


def test_every_taxonomy_is_listed_with_its_labels():
    listed = {row["name"]: row for row in done("taxonomies", "--json").rows}

    assert {"convex-evals", "conversation-bench", "scylla", "owners"} <= set(listed)
    assert listed["convex-evals"]["labels"][0] == {
        "label": "MODEL_FAULT",
        "owner": "model",
        "meaning": "the model genuinely got it wrong",
    }
    assert listed["convex-evals-later"]["opt_in"] is True


def test_a_name_that_is_almost_right_is_corrected():
    result = errata("taxonomies", "convex-eval")

    assert result.code == 2
    assert "convex-evals" in result.talk


@pytest.mark.req("B-41")
def test_the_example_of_the_page_can_be_used(own_labels):
    (row,) = [row for row in done("taxonomies", "--json").rows if row["name"] == "my-agents"]

    assert row["file"].endswith("taxonomies/my-agents.toml")
    assert [label["label"] for label in row["labels"]] == ["PLAN_ERROR", "TOOL_DOWN", "KNOWN_LIMIT"]
    reviewed_next("--taxonomy", "my-agents", label="PLAN_ERROR")


def test_a_report_shows_own_labels_on_infrastructure_failures(own_labels):
    reviewed_next("--taxonomy", "my-agents", "--owner", "environment", label="TOOL_DOWN")
    done("report", "latest", "-o", "report.md")
    report = Path("report.md").read_text()

    assert "Not classified: infrastructure" not in report
    assert re.search(r"^## Classification: infrastructure$", report, re.MULTILINE)
    assert re.search(r"\| TOOL_DOWN[^|]* \| environment", report)
    assert re.search(r"Classification\W+TOOL_DOWN, owner environment", report)


def test_without_labels_for_infrastructure_the_report_says_that_it_is_not_classified(tmp_path):
    import_fixtures(RUN_B)
    done("report", "latest", "-o", "report.md")

    assert "## Not classified: infrastructure" in Path("report.md").read_text()
