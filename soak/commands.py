"""Commands that only read, in this process: one of its own would take ten times as long to start as to read."""

import io
from contextlib import redirect_stdout
from pathlib import Path

from errata.cli.door import run


def printed(*arguments: str | Path) -> str:
    """What a command prints; it has to succeed."""
    output = io.StringIO()
    with redirect_stdout(output):
        code = run([str(argument) for argument in arguments])
    assert code == 0, f"{arguments} ended with {code}"
    return output.getvalue()
