"""A name for a run whose log gives it none, not even a time: a hash of the log, which stays where a file is moved."""

from hashlib import blake2b
from pathlib import Path

from errata.sources.base import READ_SIZE

SIZE = 6


def named_by_content(path: Path) -> str:
    made = blake2b(digest_size=SIZE)
    try:
        with path.open("rb") as file:
            while chunk := file.read(READ_SIZE):
                made.update(chunk)
    except OSError:
        return path.stem
    return made.hexdigest()
