"""Reading markdown reports back as a user would: sections, tables, and the words of a line without its marks."""

import re
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

from terminal import Said, done

DAY = "2026-03-10"
CONVEX = Path(__file__).parent / "fixtures" / "sources" / "convex_evals"
RUN_A, RUN_B, RUN_C, RUN_D = (CONVEX / f"run_{one}" / "data" / f"run-{one}" for one in "abcd")
CONVERSATIONS = Path(__file__).parent / "fixtures" / "sources" / "conversation_bench"
COMPARISON = CONVERSATIONS / "comparison" / "data" / "compare_20260301"
UNJUDGED = CONVERSATIONS / "unjudged" / "data" / "20260302T090000_voice-delta_7d8e9f0a"
BATCH = Path(__file__).parent / "fixtures" / "sources" / "scylla" / "large" / "batch-gen1" / "data" / "batch-gen1"
EARLIER = Path(__file__).parent / "fixtures" / "actions" / "reports"
VERDICTS = Path(__file__).parent / "fixtures" / "golden_verdicts"


@contextmanager
def working_in(folder: Path) -> Iterator[Path]:
    """For what is made once for many tests."""
    folder.mkdir(parents=True, exist_ok=True)
    with chdir(folder):
        yield folder


def reported(*words: object) -> Said:
    """`errata report` on a fixed day, in a store of this folder."""
    return done("report", *words, "--date", DAY, "--store", "errata.db")


def section(text: str, title: str) -> str:
    """What stands under a heading, up to the next of its level; a heading inside of code is none."""
    found, level, fence = [], 0, ""
    for line in text.splitlines():
        mark = re.match(r"`{3,}", line)
        if mark and (not fence or mark[0].startswith(fence)):
            fence = "" if fence else mark[0]
        heading = re.match(r"(#+) (.*)", line) if not fence and not mark else None
        if heading and level and len(heading[1]) <= level:
            break
        if level:
            found.append(line)
        elif heading and plain(heading[2]) == title:
            level = len(heading[1])
    assert level, f"no section `{title}`"
    return "\n".join(found).strip()


def tables(text: str) -> list[list[dict[str, str]]]:
    """Every table, row by row, by the names of its columns."""
    found: list[list[dict[str, str]]] = []
    header: list[str] = []
    for line in text.splitlines():
        if not line.startswith("| "):
            header = []
            continue
        cells = [plain(cell) for cell in re.split(r"(?<!\\) ?\| ?", line.strip()[1:-1].strip(" "))]
        if not header:
            header = cells
            found.append([])
        elif not set("".join(cells)) <= set("-: "):
            found[-1].append(dict(zip(header, cells, strict=True)))
    return found


def table(text: str) -> list[dict[str, str]]:
    return tables(text)[0]


def plain(text: str) -> str:
    """Without links, code marks and escapes."""
    text = re.sub(r"\[((?:\\.|[^\]])*)\]\([^)]*\)", r"\1", text.strip())
    return re.sub(r"\\(.)", r"\1", text).replace("`", "").replace("**", "").replace("\u200b", "")


def facts(text: str) -> dict[str, str]:
    """The list on top."""
    return {name: plain(value) for name, value in re.findall(r"^- \*\*([^*]+)\*\*: (.*)$", text, re.MULTILINE)}


def only(folder: Path, pattern: str) -> Path:
    (found,) = folder.rglob(pattern)
    return found


def folded(said: Any) -> str:
    """What was printed, on one line."""
    return " ".join(said.out.split())
