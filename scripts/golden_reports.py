"""The golden reports of the three mission samples: `python scripts/golden_reports.py` writes them anew.

Read the diff as a user would. The tests hold what the commands write against these files.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path

from errata.cli.door import run

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "tests" / "fixtures" / "sources"
GOLDEN = ROOT / "tests" / "fixtures" / "golden"
DAY = "2026-03-10"
COMPARISON = SOURCES / "conversation_bench" / "comparison" / "data" / "compare_20260301"
REPORTS = ROOT / "tests" / "fixtures" / "actions" / "reports"
"""The two earlier reports of the sample."""


def commands() -> Iterator[tuple[str, list[str]]]:
    """Name → the command whose files and words are kept."""
    convex = SOURCES / "convex_evals"
    earlier = ["--reports", str(REPORTS)]
    yield "run-a", ["report", str(convex / "run_a" / "data" / "run-a"), "--date", DAY, "--html", *earlier]
    yield "run-b", ["report", str(convex / "run_b" / "data" / "run-b"), "--date", DAY, *earlier]
    yield "comparison", ["report", "--comparison-dir", str(COMPARISON), "-o", "results", "--date", DAY]
    yield "batch", ["report", str(SOURCES / "scylla" / "large" / "batch-gen1" / "data" / "batch-gen1"), "--date", DAY]


def write(name: str, words: list[str], folder: Path) -> None:
    """Run the command in an empty folder, and keep what it said beside what it wrote."""
    said = StringIO()
    with tempfile.TemporaryDirectory() as place, chdir(place):
        with redirect_stdout(said):
            code = run([*words, "--store", "golden.db"])
        if code:
            raise SystemExit(f"{name}: exit {code}")
        for path in sorted(Path(place).rglob("*")):
            if path.is_file() and not path.name.startswith("golden.db"):
                target = folder / name / path.relative_to(place)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
    (folder / name / "said.txt").write_text(said.getvalue(), encoding="utf-8")


def main() -> int:
    shutil.rmtree(GOLDEN, ignore_errors=True)
    for name, words in commands():
        write(name, words, GOLDEN)
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
