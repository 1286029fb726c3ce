"""Search a folder for runs, and keep account of every file that no source recognises."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from errata.errors import SourceError
from errata.sources.base import RecognisedPath
from errata.text.lazy_regex import lazy_regex

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
        self.outward: list[Path] = []
        """Links out of the folder: whoever made it does not choose what else is read on this machine."""
        self.unlistable: dict[Path, str] = {}
        self._recognise = recognise
        self._looks = LOOK_CAP

    def matches(self) -> Iterator[RecognisedPath]:
        yield from self._descend(self.root, 0)

    def _descend(self, path: Path, depth: int) -> Iterator[RecognisedPath]:
        self._looks -= 1
        if depth > 0 and path.is_symlink() and _leads_out(path, self.root):
            self.outward.append(path)
            return
        best = self._recognise(path)
        if best is not None:
            yield best
        elif not path.is_dir():
            self.unrecognised.append(path)
        elif depth == 0 or not path.is_symlink():
            yield from self._descend_into(path, depth)

    def _descend_into(self, folder: Path, depth: int) -> Iterator[RecognisedPath]:
        try:
            visible = _children(folder)
        except OSError as error:
            if depth == 0:
                hint = "check its permissions"
                raise SourceError(f"`{folder}` can't be listed: {error.strerror}", hint=hint) from error
            self.unlistable[folder] = f"the folder can't be listed: {error.strerror}"
            return
        if depth < DESCENT_CAP and self._looks > 0:
            for child in visible:
                yield from self._descend(child, depth + 1)
        elif visible:
            (self.not_searched if self._looks <= 0 else self.too_deep).append(folder)


def _children(folder: Path) -> list[Path]:
    with os.scandir(folder) as listed:
        return [folder / name for name in sorted(one.name for one in listed if not one.name.startswith("."))]


_CONTENT_STORE = lazy_regex(r"/annex/objects/|/blobs/[0-9a-f]{40}")
"""Where git-annex and the cache of Hugging Face keep the files that a folder links to."""


def _leads_out(link: Path, root: Path) -> bool:
    """Whether a link has a target, and one that is not below the folder that was named."""
    try:
        target = link.resolve(strict=True)
        return not target.is_relative_to(root.resolve()) and not _CONTENT_STORE.search(target.as_posix())
    except (OSError, RuntimeError):
        return False
