"""Walk the session of docs/review-session.md again and rewrite the output that the page quotes.

`python scripts/review_session.py` edits the page in place. Times, leases and ids of verdicts stay as recorded. Packets
and verdicts are shown cut, so they are edited by hand.
"""

import contextlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from errata.cli.door import run

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "review-session.md"
RUN = ROOT / "tests/fixtures/sources/convex_evals/run_b/data/run-b"
VERDICTS = json.loads((ROOT / "tests/fixtures/review/run_b_verdicts.json").read_text(encoding="utf-8"))
AGENT = ("--reviewer", "my-agent")
GAP, QUOTE = "002-queries/006-pagination_shape", "004-actions/003-rate_limit_guard"
RETYPED = {"place": "output/convex/guard.ts", "quote": 'if (used > 3) throw new Error("too many requests")'}


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="errata-session-") as folder:
        os.chdir(folder)
        os.environ.pop("ERRATA_STORE", None)
        os.environ["XDG_CONFIG_HOME"] = folder
        text = walk(text)
        os.chdir(ROOT)
    PAGE.write_text(text, encoding="utf-8")
    return 0


def walk(text: str) -> str:
    text = replace_output(text, "import run-b", errata("import", str(RUN)))
    text = replace_output(text, "review status run-b", errata("review", "status", "latest"))
    while (handed := json.loads(errata("review", "next", "latest", *AGENT, stderr=False)))["packet"]:
        case = handed["packet"]["case_key"].removeprefix("convex-evals/")
        answer = handed["answer"] | VERDICTS[case]
        if case == GAP:
            text = replace_output(
                text, "review submit v5.json --reviewer my-agent", submit(answer | {"label": "KNOWN_GAP"})
            )
        if case == QUOTE:
            submit(answer | {"evidence": [RETYPED, *answer["evidence"][1:]]})
        text = replace_verdict_line(text, case, submit(answer))
    text = replace_output(text, "review next run-b --reviewer my-agent", errata("review", "next", "latest", *AGENT))
    text = replace_output(text, "review status run-b", errata("review", "status", "latest"), last=True)
    text = replace_between(text, "\nclean  ", "\n…", errata("score", "latest"), end=r"\n(?=clean range)")
    shown = errata("show", f"latest/{QUOTE}")
    text = replace_between(text, "\n  cause  ", "\n\nTriage", shown, end=r"\n(?=\n?  because|\nTriage)")
    return replace_between(text, "\nCounted ", "\n", shown, end=r"\n")


def errata(*arguments: str, stderr: bool = True) -> str:
    output, messages = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output if stderr else messages):
        run(list(arguments))
    return output.getvalue()


def submit(answer: dict[str, Any]) -> str:
    Path("v.json").write_text(json.dumps(answer), encoding="utf-8")
    return errata("review", "submit", "v.json", *AGENT)


def replace_output(text: str, command: str, output: str, *, last: bool = False) -> str:
    """Replace what is shown below a command, up to the next command or the end of the block."""
    lines = list(re.finditer(rf"^\$ errata {re.escape(command)}\n", text, re.MULTILINE))
    start = lines[-1 if last else 0].end()
    end = re.compile(r"^(?:\$ |```)", re.MULTILINE).search(text, start)
    return text[:start] + output + text[end.start() if end else len(text) :]


def replace_verdict_line(text: str, case: str, output: str) -> str:
    """Replace the line about an accepted verdict, but keep the id that was recorded."""
    line = re.compile(rf"^{re.escape(case)}   .*   (\w+)$", re.MULTILINE)
    return line.sub(lambda match: f"{output.rpartition('   ')[0]}   {match[1]}", text)


def replace_between(text: str, start: str, stop: str, output: str, *, end: str) -> str:
    """Replace a part that starts alike on the page and in the output, and ends at `stop` or `end`."""
    first = text.index(start)
    begin = output.index(start)
    until = re.compile(end).search(output, begin + 1)
    part = output[begin : until.start() if until else len(output)].rstrip("\n")
    return text[:first] + part + text[text.index(stop, first + 1) :]


if __name__ == "__main__":
    sys.exit(main())
