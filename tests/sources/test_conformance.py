"""What every source must do, tried on every fixture: one run of the kit per folder in tests/fixtures/sources."""

from itertools import groupby
from pathlib import Path

import pytest
from tests.length import LONG

from errata import sources
from errata.testing import check_source

FOLDER = Path(__file__).parent.parent / "fixtures" / "sources"


SHORT = 1
"""Fixtures of a source in a short pass, the smallest ones; `test_fuzz` damages others."""


def fixture_folders() -> list[Path]:
    """Those that hold a run; one that holds none says so by a file `NO_RUN`."""
    folders = sorted(path.parent for path in FOLDER.glob("*/*/ORIGIN.md"))
    found = [folder for folder in folders if not (folder / "NO_RUN").exists()]
    by_source = [sorted(some, key=_size) for _, some in groupby(found, key=lambda folder: folder.parent)]
    return [folder for some in by_source for folder in (some if LONG else some[:SHORT])]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in (folder / "data").rglob("*") if path.is_file())


@pytest.mark.parametrize("folder", fixture_folders(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_source_keeps_the_rules_on(folder, tmp_path):
    data = folder / "data"
    text = (folder / "IGNORED").read_text() if (folder / "IGNORED").exists() else ""
    ignored = [line for line in text.splitlines() if line and not line.startswith("#")]

    found = sources.find(data)

    for number, one in enumerate(found):
        named = one.source.NAME == "generic"
        check_source(one.source, one.path, tmp_path / str(number), ignored=ignored, within=data, named=named)
