"""What has no meaning in markdown changes nothing that is read: line ends, blank lines, the order of sections."""

import re
from functools import cache
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import FIXTURES
from tests.test_bench_reports_read import STRUCTURED

from errata.memory.reading.report import read_report
from errata.memory.words import LabelWords
from errata.triage import taxonomy

LABELS = LabelWords(label.name for one in taxonomy.built_in() for label in one.label)
FORMS = FIXTURES / "memory/forms"
PATHS = sorted((FIXTURES / "memory/styles").glob("*.md")) + [FORMS / f"{name}.md" for name in STRUCTURED.split()]
Reading = dict[str, list[tuple[object, ...]]]


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig")


def reading_of(text: str, path: Path) -> Reading:
    """Runs, failures and actions, without their lines."""
    report = read_report(text, path=path.name, below=path.name, labels=LABELS)
    return {
        "runs": sorted((run.id, run.model, run.passed, run.total) for run in report.runs),
        "failures": sorted((one.case, one.label, one.failed_check, one.run) for one in report.failures),
        "actions": sorted((one.what, one.path, one.addresses, one.date) for one in report.actions),
    }


@cache
def reading(path: Path) -> Reading:
    return reading_of(text_of(path), path)


@given(st.sampled_from(PATHS))
@settings(max_examples=15)
def test_windows_line_ends_change_nothing(path):
    assert reading_of(text_of(path).replace("\n", "\r\n"), path) == reading(path)


@given(st.sampled_from([path for path in PATHS if "```" not in text_of(path)]), st.integers(2, 4))
@settings(max_examples=15)
def test_more_blank_lines_between_paragraphs_change_nothing(path, count):
    assert reading_of(text_of(path).replace("\n\n", "\n" * (count + 1)), path) == reading(path)


def sections(text: str) -> list[str]:
    """What stands before the second section, and each section from there on."""
    first, second, *others = re.split(r"(?m)^(?=## )", text)
    return [first + second, *others]


MOVABLE = [path for path in PATHS if "```" not in text_of(path) and len(re.findall(r"(?m)^## ", text_of(path))) > 2]


@given(st.sampled_from(MOVABLE), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_the_order_of_the_later_sections_changes_nothing(path, random):
    head, *others = sections(text_of(path))
    random.shuffle(others)

    assert reading_of("".join(f"{part.rstrip()}\n\n" for part in (head, *others)), path) == reading(path)
