"""The files that an import did not read: by name where they are few, else by folder and ending with a count."""

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

from errata.cli.output import plural, say
from errata.model import UnreadFile, UnreadFiles

MOST_NAMED = 12
"""More files than this are folded."""
MOST_LINES = 12
FEW = 3
"""So few files of one folder are named one by one."""
FOLDERS_NAMED = 3


def show_unread(folders: Iterable[UnreadFiles]) -> None:
    for folder in folders:
        _show_folder(folder)


def _show_folder(unread: UnreadFiles) -> None:
    root = Path(unread.path)
    if unread.files:
        was = "was" if len(unread.files) == 1 else "were"
        say(f"note: {plural(len(unread.files), 'file')} below `{unread.path}` {was} not read:")
        lines = folded(unread.files, root)
        for line in lines[:MOST_LINES]:
            say(f"  {line}")
        if len(lines) > MOST_LINES:
            say(f"  and {plural(len(lines) - MOST_LINES, 'more group')}; `--json` lists every file")
        elif len(unread.files) > MOST_NAMED:
            say("  `--json` lists every file")
        if unread.other_files:
            say(f"  {plural(unread.other_files, 'other file')}: documents, code, images or settings")
    if unread.not_searched:
        say(f"note: the search stopped after too many files; not searched: {_first_names(unread.not_searched, root)}")
    if unread.too_deep:
        say(f"note: not searched because of its depth: {_first_names(unread.too_deep, root)}")
    if unread.not_searched or unread.too_deep:
        say("  import these folders by themselves")


def folded(files: Sequence[UnreadFile], root: Path) -> list[str]:
    """A line for each file, or for each reason in a folder, the largest group first."""
    if len(files) <= MOST_NAMED:
        return [f"{_below(file.path, root)}: {file.detail}" for file in files]
    groups: dict[tuple[str, str, str], list[UnreadFile]] = {}
    for file in files:
        path = PurePath(file.path)
        groups.setdefault((str(path.parent), path.suffix, file.detail), []).append(file)
    if len(groups) > MOST_LINES:
        groups = _by_top_folder(files, root)
    lines: list[str] = []
    for (folder, suffix, detail), those in sorted(groups.items(), key=lambda group: -len(group[1])):
        if len(those) <= FEW:
            lines += [f"{_below(file.path, root)}: {detail}" for file in those]
        else:
            lines.append(f"{_below(folder, root, ending='/')}*{suffix} ({len(those):,} files): {detail}")
    return lines


def _by_top_folder(files: Sequence[UnreadFile], root: Path) -> dict[tuple[str, str, str], list[UnreadFile]]:
    groups: dict[tuple[str, str, str], list[UnreadFile]] = {}
    for file in files:
        path = PurePath(file.path)
        inside = path.relative_to(root).parts if path.is_relative_to(root) else path.parts
        top = str(root / inside[0] / "**") if len(inside) > 1 else str(root)
        groups.setdefault((top, path.suffix, file.detail), []).append(file)
    return groups


def _below(path: str, root: Path, *, ending: str = "") -> str:
    pure = PurePath(path)
    inside = pure.relative_to(root).as_posix() if pure.is_relative_to(root) else pure.as_posix()
    return "" if inside == "." else f"{inside}{ending}"


def _first_names(folders: Sequence[str], root: Path) -> str:
    named = ", ".join(f"`{_below(folder, root)}`" for folder in folders[:FOLDERS_NAMED])
    more = len(folders) - FOLDERS_NAMED
    return f"{named} and {plural(more, 'more folder')}" if more > 0 else named
