"""The documents are true: examples run, links resolve, and what is named exists."""

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from errata import sources
from errata.checkup import breakage
from errata.model import Attempt, Case, Run
from errata.model.words import EXECUTIONS, MEASUREMENTS, OUTCOMES, Severity
from errata.store.schema import metadata
from errata.testing import check_source

ROOT = Path(__file__).parent.parent
BUILT = ROOT / "docs" / "json.md"
"""For the site, by `make docs`."""
DOCUMENTS = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")} - {BUILT})
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
STALE = "run `python scripts/docs_check.py`"


def load(path):
    """A module by its path, as if it were installed."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


docs_check = load(ROOT / "scripts" / "docs_check.py")


def files_shown(document):
    """Fenced blocks under a line that names their file."""
    named = re.compile(r"^`([^`\n]+)`:\n\n```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
    return {Path(name).name: text for name, text in named.findall(document.read_text(encoding="utf-8"))}


@pytest.fixture
def scorecard(tmp_path):
    """The source of CONTRIBUTING.md, its log, and what it ignores."""
    shown = files_shown(ROOT / "CONTRIBUTING.md")
    (tmp_path / "scorecard.py").write_text(shown["scorecard.py"])
    log = tmp_path / "results"
    log.mkdir()
    for name in ("scorecard.json", "answers.jsonl"):
        (log / name).write_text(shown[name])
    ignored = [line for line in shown["IGNORED"].splitlines() if not line.startswith("#")]
    return load(tmp_path / "scorecard.py"), log, ignored


def test_the_source_of_the_contributing_page_passes_the_conformance_kit(scorecard, tmp_path):
    source, log, ignored = scorecard

    check_source(source, log, tmp_path / "scratch", ignored=ignored)


def test_the_kit_would_notice_what_the_source_of_the_contributing_page_ignores(scorecard, tmp_path):
    source, log, _ = scorecard

    with pytest.raises(AssertionError, match="written_by"):
        check_source(source, log, tmp_path / "scratch")


def test_the_source_of_the_contributing_page_gives_a_crash_no_outcome(scorecard):
    source, log, _ = scorecard

    *_, last = source.read(log)

    assert (last.execution, last.measurement, last.outcome) == ("error", "scored", "none")


def test_the_lines_that_the_page_of_sources_shows_are_read_whole(tmp_path):
    page = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    log = tmp_path / "any-name"
    log.write_text(next(block for language, block in FENCED.findall(page) if language == "json"))

    (found,) = sources.find(log)

    assert [type(item) for item in sources.read(found)] == [Run, Case, Attempt]


def test_the_page_of_commands_is_what_the_commands_say():
    assert docs_check.COMMANDS_PAGE.read_text(encoding="utf-8") == docs_check.commands_page(), STALE


def test_marked_console_blocks_show_what_the_commands_print_today():
    pages = docs_check.pages_with_current_output()

    assert ROOT / "README.md" in pages
    assert [page.name for page, text in pages.items() if page.read_text(encoding="utf-8") != text] == [], STALE


def test_the_review_page_lists_the_keys_that_are_bound():
    page = docs_check.REVIEW_PAGE.read_text(encoding="utf-8")

    assert page == docs_check.with_keys(page), STALE
    assert "`⇧↵`" in page


def test_the_table_of_sources_lists_what_is_built_in():
    page = docs_check.SOURCES_PAGE.read_text(encoding="utf-8")

    assert page == docs_check.with_sources(page), STALE
    assert not docs_check.untold_sources()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_resolve(document):
    text = FENCED.sub("", document.read_text(encoding="utf-8"))
    targets = [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]

    assert [target for target in targets if not resolves(document, target)] == []


def resolves(document, target):
    name, _, anchor = target.partition("#")
    path = document.parent / name if name else document
    if not path.exists():
        return False
    return not anchor or anchor in anchors_of(path.resolve())


@cache
def anchors_of(path):
    """Headings as links name them: lower case, hyphens for blanks, other punctuation gone."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_no_page_of_the_site_links_to_a_page_that_is_not_on_it():
    site = load(ROOT / "docs" / "conf.py")
    lost = []
    for path in [path for pattern in site.include_patterns for path in ROOT.glob(pattern)]:
        source = [path.read_text(encoding="utf-8")]
        site.add_navigation(None, path.relative_to(ROOT).with_suffix("").as_posix(), source)
        text = re.sub(r"^```.*?^```", "", source[0], flags=re.DOTALL | re.MULTILINE)
        lost += [(path.name, link) for link in site._LINK.findall(text) if not site.is_on_site(path.parent / link)]

    assert not site.is_on_site(ROOT / "bench" / "real" / "README.md")
    assert lost == []


def test_every_page_can_be_reached_from_the_start_page():
    start = ROOT / "docs" / "README.md"
    reached, waiting = set(), [start]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            # lists of pages lead on, other pages only mention each other
            waiting += links_of(page) if page.name == "README.md" and page.parent != ROOT else []

    assert [str(page.relative_to(ROOT)) for page in DOCUMENTS if page not in reached] == []


def links_of(page):
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]
    return [(page.parent / target).resolve() for target in targets if target]


NOT_OURS = {"fill.py", "review.py", "edit_log.py", "show.py", "scorecard.py", "test_scorecard.py", "000N_name.py"}
"""Files of examples."""
PAGES = [path for path in DOCUMENTS if path.parent in (ROOT, ROOT / "docs") and path.name != "CHANGELOG.md"]


def test_every_module_that_is_named_exists():
    named = {name for page in PAGES for name in re.findall(r"`([\w/]+\.py)`", page.read_text(encoding="utf-8"))}
    files = [path.as_posix() for part in ("src", "tests", "scripts", "docs") for path in (ROOT / part).rglob("*.py")]

    missing = [name for name in named if not any(path.endswith(f"/{name}") for path in files)]
    assert {Path(name).name for name in missing} <= NOT_OURS


def test_the_first_screen_of_the_readme_answers_what_a_newcomer_asks():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    screen = "\n".join(lines[:52])

    assert len(lines) <= 150
    for answer in (
        "errata analyze PATH",
        "make demo",
        "docs/sources.md",
        "docs/results.md",
        "errata show RUN/CASE",
        "Next",
    ):
        assert answer in screen


def test_the_conclusion_of_the_readme_follows_from_the_output_below_it():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    failures = int(re.search(r"Owners (\d+) failures, ", text)[1])
    supported, presumed = map(int, re.search(r"(\d+) supported, (\d+) presumed", text).groups())
    others = {owner: int(re.search(rf" {owner} (\d+) █", text)[1]) for owner in ("grader", "provider", "environment")}
    clean = re.search(r"clean (\d+/\d+) ", text)[1]

    assert failures == supported + presumed + sum(others.values())
    named = re.search(rf"an owner for {failures - presumed} of the {failures} failures: (.*?)\. ", text)[1]
    assert {owner: int(n) for n, owner in re.findall(r"(\d+) (\w+) \(", named)} == {"model": supported, **others}
    assert "only lint failed, every test passed" in named
    assert "lint failed, every test passed" in text.split("Owners")[1]
    assert f"The other {presumed} are only *presumed* to be the model's" in text
    left_out = others["provider"] + others["environment"]
    assert f"The corrected score, `clean`, is {clean}: it leaves out the {left_out} infrastructure failures" in text
    still = f"{failures - left_out} ({supported + presumed} model, {others['grader']} grader)"
    assert f"The other {still} count as failed until reviewed" in text


def test_the_readme_counts_the_formats():
    """Without errata's own lines and the user's tables."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    assert f"[{len(set(sources.BUILT_IN) - {'errata-jsonl', 'generic'})} log formats]" in text


def test_the_checkup_page_explains_every_finding_and_no_other():
    page = (ROOT / "docs" / "checkup.md").read_text(encoding="utf-8")

    explained = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)

    assert sorted(explained) == sorted([*findings_in_code(), *get_args(Severity)])


def findings_in_code():
    """The names given to `finding(survey, "name", …)`, and those of the one table."""
    found = set(breakage.FINDINGS)
    for path in (ROOT / "src" / "errata" / "checkup").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", "") == "finding"
                and isinstance(node.args[1], ast.Constant)
            ):
                found.add(ast.literal_eval(node.args[1]))
    return found


def test_the_page_of_the_store_lists_every_table():
    page = (ROOT / "docs" / "store.md").read_text(encoding="utf-8")
    rows = page.partition("\n| table | one row per |")[2].partition("\n\n")[0]

    listed = {name for row in rows.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert listed == {*metadata.tables, "alembic_version"}


def test_the_glossary_holds_every_word_of_the_three_facts():
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")

    missing = [word for word in (*EXECUTIONS, *MEASUREMENTS, *OUTCOMES) if f"`{word}`" not in glossary]

    assert not missing
