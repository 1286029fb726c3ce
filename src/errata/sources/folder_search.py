"""Search a folder for runs, and keep account of every file that no source recognises."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from errata.errors import SourceError
from errata.sources.base import RecognisedPath

DESCENT_CAP = 8
LOOK_CAP = 200_000


class FolderSearch:
    """One search below one path."""

    def __init__(self, root: Path, recognise: Callable[[Path], RecognisedPath | None]) -> None:
        self.root = root
        self.unrecognised: list[Path] = []
        """Files, and links that lead nowhere."""
        self.too_deep: list[Path] = []
        self.not_searched: list[Path] = []
        self._recognise = recognise
        self._looks = LOOK_CAP

    def matches(self) -> Iterator[RecognisedPath]:
        yield from self._descend(self.root, 0)

    def _descend(self, path: Path, depth: int) -> Iterator[RecognisedPath]:
        self._looks -= 1
        best = self._recognise(path)
        if best is not None:
            yield best
        elif not path.is_dir():
            self.unrecognised.append(path)
        elif depth == 0 or not path.is_symlink():
            yield from self._descend_into(path, depth)
        elif not _leads_below(path, self.root):
            self.unrecognised.append(path)

    def _descend_into(self, folder: Path, depth: int) -> Iterator[RecognisedPath]:
        visible = _children(folder)
        if depth < DESCENT_CAP and self._looks > 0:
            for child in visible:
                yield from self._descend(child, depth + 1)
        elif visible:
            (self.not_searched if self._looks <= 0 else self.too_deep).append(folder)


def _children(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as listed:
            return [folder / name for name in sorted(one.name for one in listed if not one.name.startswith("."))]
    except OSError as error:
        raise SourceError(f"`{folder}` can't be listed: {error.strerror}", hint="check its permissions") from error


def _leads_below(link: Path, root: Path) -> bool:
    """Whether the target of a link is searched anyway."""
    try:
        return link.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):
        return False
