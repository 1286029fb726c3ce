"""The reports by rules that are not ours: a parser of HTML that forgives nothing, and a linter of markdown."""

from pathlib import Path

import html5lib
import pytest

GOLDEN = Path(__file__).parents[1] / "fixtures" / "golden"
# a line of a table is as long as its row, and groups of advice have their names in bold, as people write them
NOT_OURS = ("md013", "md036")
LARGEST = 5


@pytest.mark.parametrize("page", sorted(GOLDEN.rglob("*.html")), ids=lambda page: page.relative_to(GOLDEN).parts[0])
def test_a_page_is_valid(page):
    parser = html5lib.HTMLParser(strict=True)

    parser.parse(page.read_text(encoding="utf-8"))

    assert parser.errors == []


@pytest.mark.parametrize("folder", sorted(GOLDEN.iterdir()), ids=lambda folder: folder.name)
def test_a_report_lints_clean(folder):
    from pymarkdown.api import PyMarkdownApi  # a second of every worker

    linter = PyMarkdownApi().set_boolean_property("plugins.md024.siblings_only", True)
    for rule in NOT_OURS:
        linter = linter.disable_rule_by_identifier(rule)

    # a batch has a hundred pages of one kind
    for page in sorted(folder.rglob("*.md"), key=lambda path: path.stat().st_size)[-LARGEST:]:
        found = linter.scan_path(str(page))
        assert found.pragma_errors == []
        assert [(one.scan_file, one.line_number, one.rule_description) for one in found.scan_failures] == []
