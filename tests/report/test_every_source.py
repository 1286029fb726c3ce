"""Runs of every harness give a report, a page and issues that are sound."""

import pytest
from page_rules import check_folder

from report_pages import DAY, working_in
from terminal import FIXTURES, done


def one_of_each():
    """The smallest fixture of each source that has a failure to tell of."""
    wanted = {
        "harbor": "",
        "inspect_ai": "scorer_json",
        "lm_eval": "",
        "openai_evals": "",
        "promptfoo": "export",
        "swe_bench": "",
        "tau_bench": "",
        "who_and_when": "",
        "scylla": "batch-cascade",
        "generic": "jsonl",
    }
    for source, name in wanted.items():
        folders = sorted(path.parent for path in (FIXTURES / source).glob("*/ORIGIN.md"))
        yield next(one for one in folders if not name or one.name == name)


@pytest.mark.parametrize("fixture", list(one_of_each()), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_its_reports_are_sound(fixture, tmp_path):
    shared = ("--date", DAY, "--store", "errata.db")
    with working_in(tmp_path):
        done("report", fixture / "data", "--profile", "run", "--html", "-o", "reports", *shared)
        done("issues", fixture / "data", "-o", "analysis", *shared)

    pages = [check_folder(tmp_path / part) for part in ("reports", "analysis") if (tmp_path / part).exists()]
    assert pages[-1] >= 4
