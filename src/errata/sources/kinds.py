"""What kind of file lies at a path, by its first bytes: asked before any source is."""

from pathlib import Path

_ZIP = b"PK\x03\x04"
_EMPTY_ZIP = b"PK\x05\x06"


def is_zip(path: Path) -> bool:
    try:
        if not path.is_file():  # a pipe would be waited for, and what is read of it is gone
            return False
        with path.open("rb") as file:
            return file.read(len(_ZIP)) in (_ZIP, _EMPTY_ZIP)
    except (OSError, ValueError):
        return False
