"""A program in the place of `inspect`: it notes its arguments and leaves a genuine log where it was asked to."""

import json
import os
import sys
from pathlib import Path

LOGS = Path(__file__).parent / "fixtures" / "runner"
SCRIPT = f"""#!{sys.executable}
import json, os, shutil, sys
from pathlib import Path
with open(os.environ["STUB_NOTES"], "a") as notes:
    notes.write(json.dumps([sys.argv[1:], {{k: v for k, v in os.environ.items() if k.startswith("LOCAL_")}}]) + "\\n")
folder = next(word.partition("=")[2] for word in [*sys.argv, "--log-dir=logs"] if word.startswith("--log-dir="))
log = os.environ.get("STUB_LOG", "answered")
if log:
    os.makedirs(folder, exist_ok=True)
    target = Path(folder) / f"{{len(list(Path(folder).iterdir()))}}_{{log}}.eval"
    shutil.copy(Path({str(LOGS)!r}) / f"{{log}}.eval", target)
sys.exit(int(os.environ.get("STUB_CODE", "0")))
"""


def install(folder: Path) -> Path:
    """The program, in a folder of its own that can be put on the PATH."""
    folder.mkdir(exist_ok=True)
    program = folder / "inspect"
    program.write_text(SCRIPT)
    program.chmod(0o755)
    return program


def notes() -> list[tuple[list[str], dict[str, str]]]:
    """The arguments and the variables of each call."""
    path = Path(os.environ["STUB_NOTES"])
    return [tuple(json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []
