"""What the commands write about the three mission samples is what was read and found good."""

import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "scripts"))

from golden_reports import GOLDEN, commands, write

from errata.render.document import anchor_of

NAMES = [name for name, _ in commands()]
PAGES = sorted(GOLDEN.rglob("*.md"))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    for name, words in commands():
        write(name, words, folder)
    return folder


def files_in(folder):
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.req("C-23", "C-24", "C-25", "C-26", "C-27", "C-28", "J-16", "J-32", "S-20", "S-32", "S-33", "S-34")
@pytest.mark.parametrize("name", NAMES)
def test_the_same_store_gives_the_same_bytes(written, name):
    ours, theirs = files_in(written / name), files_in(GOLDEN / name)

    assert list(ours) == list(theirs)
    for file, path in ours.items():
        assert path.read_text() == theirs[file].read_text(), f"{name}/{file}: see scripts/golden_reports.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(GOLDEN).as_posix())
def test_every_link_leads_somewhere(page):
    text = page.read_text()
    headings = {
        anchor_of(re.sub(r"[\\`*]", "", line.lstrip("# "))) for line in text.splitlines() if line.startswith("#")
    }
    anchors = headings | set(re.findall(r'<a id="([^"]+)"', text))
    for target in re.findall(r"\]\(([^)]+)\)", text):
        file, _, anchor = target.partition("#")
        if file:
            assert (page.parent / file).is_file(), target
        else:
            assert anchor in anchors, target


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(GOLDEN).as_posix())
def test_the_markdown_is_clean(page):
    """One title, no level of headings left out, tables with as many cells in each row, no trailing blanks."""
    text = page.read_text()
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]

    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert not [line for line in text.splitlines() if line != line.rstrip()]
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    columns = 0
    for token in tokens:
        if token.type == "thead_open":
            columns = 0
        columns += token.type == "th_open"
        cells = 0 if token.type == "tr_open" else columns
        assert cells <= columns
