"""The first bytes of a file: what a source goes by when it is asked whether a path is its own."""

from pathlib import Path

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def head_of(path: Path, size: int) -> bytes:
    """Of a regular file, without a byte order mark; nothing for anything else, and for what can't be read."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(size).removeprefix(BYTE_ORDER_MARK)
    except (OSError, ValueError):
        return b""
