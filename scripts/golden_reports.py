"""The golden reports of the three mission samples: `python scripts/golden_reports.py` rewrites them.

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
VERDICTS = ROOT / "tests" / "fixtures" / "golden_verdicts"


def commands() -> Iterator[tuple[str, list[list[str]]]]:
    """Name → commands; the files and words of the last one are kept."""
    convex = SOURCES / "convex_evals"
    run_a, run_b = (str(convex / name / "data" / name.replace("_", "-")) for name in ("run_a", "run_b"))
    earlier = ["--reports", str(REPORTS)]
    comparison = ["report", "--comparison-dir", str(COMPARISON), "-o", "results", "--date", DAY]
    batch = SOURCES / "scylla" / "large" / "batch-gen1" / "data" / "batch-gen1"
    unjudged = SOURCES / "conversation_bench" / "unjudged" / "data"
    yield "run-a", [["report", run_a, "--date", DAY, "--html", *earlier]]
    yield "run-b", [["report", run_b, "--date", DAY, *earlier]]
    yield (
        "run-b-reviewed",
        [
            ["import", run_a, run_b],
            ["review", "import", str(VERDICTS / "run-b.jsonl"), "--reviewer", "reader", *earlier],
            ["report", run_b, "--date", DAY, *earlier],
        ],
    )
    yield "comparison", [[*comparison, "--html"]]
    yield (
        "comparison-reviewed",
        [
            ["import", str(COMPARISON)],
            ["review", "import", str(VERDICTS / "comparison.jsonl"), "--reviewer", "reader"],
            comparison,
        ],
    )
    yield "transcripts", [["report", str(unjudged), "--date", DAY]]
    yield "batch", [["report", str(batch), "-o", "analysis", "--date", DAY]]


def write(name: str, several: list[list[str]], folder: Path) -> None:
    """Run the commands in an empty folder, and keep the output of the last one beside its files."""
    with tempfile.TemporaryDirectory() as place, chdir(place):
        for words in several:
            output = StringIO()
            with redirect_stdout(output):
                code = run([*words, "--store", "golden.db"])
            if code:
                raise SystemExit(f"{name}: exit {code}: {output.getvalue()}")
        for path in sorted(Path(place).rglob("*")):
            if path.is_file() and not path.name.startswith("golden.db"):
                target = folder / name / path.relative_to(place)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
    (folder / name / "said.txt").write_text(output.getvalue(), encoding="utf-8")


def main() -> int:
    shutil.rmtree(GOLDEN, ignore_errors=True)
    for name, words in commands():
        write(name, words, GOLDEN)
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
