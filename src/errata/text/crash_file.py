"""A file for the report of a bug, without secrets, readable by its owner alone."""

import os
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from pathlib import Path

from errata import __version__
from errata.text.outgoing import for_user


def write_crash(error: BaseException, what: str) -> Path:
    """`what`: the arguments of the command, or the request."""
    now = datetime.now(UTC)
    lines = [
        f"errata {__version__} · Python {sys.version.split()[0]} · {sys.platform} · {now:%Y-%m-%dT%H:%M:%SZ}",
        what,
        "",
        *traceback.format_exception(error),
    ]
    handle, name = tempfile.mkstemp(prefix=f"errata-crash-{now:%Y%m%dT%H%M%S}-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
        file.write(for_user("\n".join(lines)))
    return Path(name)
