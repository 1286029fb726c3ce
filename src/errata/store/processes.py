"""Who is at work on something in the store, and whether that process still lives."""

import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

GIVEN_UP_AFTER = timedelta(days=2)
"""A process of another machine or container can't be asked whether it lives; after this long it does not."""


def this_process() -> str:
    """Told so that another can find out whether it still lives: its host, its process namespace, its number."""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}/{namespace}:{os.getpid()}"


def is_dead(process: str, since: str) -> bool:
    if datetime.now(UTC) - datetime.fromisoformat(since) > GIVEN_UP_AFTER:
        return True
    place, _, pid = process.rpartition(":")
    if place != this_process().rpartition(":")[0]:
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, ValueError):
        pass
    return False
