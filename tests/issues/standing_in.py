"""A stand-in for `gh` that writes down every call and fails at random, and the script run against it."""

import json
import os
import subprocess
import sys
from pathlib import Path

STAND_IN = Path(__file__).parent.parent / "fixtures" / "issues" / "gh"


def put_in_place(folder: Path) -> Path:
    """Where it keeps what was filed; it lies in `bin` beside that."""
    home = folder / "gh-home"
    home.mkdir()
    (folder / "bin").mkdir()
    stand_in = folder / "bin" / "gh"
    stand_in.write_text(f"#!{sys.executable}\n{STAND_IN.read_text()}")
    stand_in.chmod(0o755)
    return home


def environment(gh, **more):
    path = f"{gh.parent / 'bin'}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "GH_HOME": str(gh), "FILE_ISSUES_PAUSE": "0", **more}


def filing(folder, gh, *words, cwd=None, **more):
    command = [str(folder / "file_issues.sh"), *words]
    return subprocess.run(
        command, env=environment(gh, **more), cwd=cwd or "/", capture_output=True, text=True, timeout=60
    )


def state(gh):
    return json.loads((gh / "state.json").read_text())


def calls(gh):
    return [json.loads(line) for line in (gh / "calls.jsonl").read_text().splitlines()]
