"""Hints for a path that no source recognises: what it looks like, and what to import instead."""

import json
import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from errata.model.words import UnreadReason
from errata.sources.base import Source, children, head_of
from errata.sources.generic import SUFFIXES
from errata.sources.json_values import unmarked_encoding
from errata.text.lazy_regex import lazy_regex
from errata.text.shell import shell_word

WHOLE = 32 * 1024 * 1024
LOOKS = 1_000
ABOVE = 2
HEAD = 256 * 1024
FILES_CAP = 200
"""The most files that are searched for the words of an unsupported harness."""
DEPTH = 5

# suffixes of files that are still being written: `x.json.tmp.1402`, `x.json.tmp-8f`, `x.json.part`
LEFT_OVER = lazy_regex(r"^(?P<name>.+?)\.(?:tmp|temp|part|partial|incomplete)(?:[.\-_].*)?$")
_OPEN_STRING = "Unterminated string starting at"

SHORTEST_POINTER, POINTER = len("annex/objects/"), 4 * 1024
"""The sizes between which pointers of git-lfs and git-annex lie."""
_LFS = lazy_regex(rb"version https://(?:git-lfs|hawser)\.github\.com/spec/")
_ANNEX = lazy_regex(rb"(?:\A(?:\.{0,2}/)*+(?:\.git/)?|/)annex/objects/")
IN_LFS = "git-lfs pointer: the data is not here; run `git lfs pull`"
IN_ANNEX = "git-annex pointer: the data is not here; run `git annex get`"
WITH_A_MAPPING = "describe it with a mapping: `errata map PATH`"

IsRun = Callable[[Path], bool]
ReasonInWords = tuple[UnreadReason, str]
"""Why a file is not read, as a word and in words."""


class Telltale(NamedTuple):
    """A known harness that is not supported yet. Its files contain all of these words, mostly as JSON keys."""

    what: str
    words: tuple[bytes, ...]


TELLTALES = (
    Telltale("lighteval results", (b'"config_general"', b'"config_tasks"', b'"summary_tasks"')),
    Telltale("OpenCompass predictions", (b'"origin_prompt"', b'"prediction"')),
    Telltale("LangSmith runs", (b'"dotted_order"', b'"run_type"')),
    Telltale("Weave calls", (b'"op_name"', b'"trace_id"', b'"started_at"')),
)


def cut_off(path: Path) -> str:
    """Where a JSON document is truncated, or how it is encoded; empty for a complete one and for other files."""
    if encoding := unmarked_encoding(head_of(path, 8)):
        return f"is {encoding} without a byte order mark; convert it with `iconv -f {encoding} -t UTF-8`"
    try:
        if not path.is_file() or path.stat().st_size > WHOLE:
            return ""
        text = path.read_text(encoding="utf-8-sig").rstrip()
        if not text.startswith(("{", "[")):
            return ""
        json.loads(text)
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        if error.msg.startswith(_OPEN_STRING):
            return f"ends inside a string that starts at {at}"
        return f"is truncated at {at}" if error.pos >= len(text) else ""
    except (OSError, ValueError, RecursionError):
        return ""
    return ""


def unsupported_harness(file: Path) -> Telltale | None:
    """The known harness that wrote a file, although no source reads it."""
    content = head_of(file, HEAD)
    return next((known for known in TELLTALES if all(word in content for word in known.words)), None)


def points_elsewhere(head: bytes) -> bool:
    """Whether a file begins like a pointer of git-lfs or git-annex."""
    return bool(_LFS.match(head) or _ANNEX.match(head))


def missing_content(path: Path) -> ReasonInWords | None:
    """Why a file has no content of its own: a pointer, a broken link, or an empty file."""
    if path.is_symlink():
        target = path.readlink()
        if not path.exists():
            is_annexed = bool(_ANNEX.search(os.fsencode(target)))
            return ("git_annex_pointer", IN_ANNEX) if is_annexed else ("broken_link", f"broken link to `{target}`")
        if path.is_dir():
            return "link_not_followed", f"link to the folder `{target}`, which was not followed"
    try:
        if not path.is_file():
            return "unknown_format", "not a regular file"
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(POINTER)
    except OSError as error:
        return "no_access", f"can't be opened: {error.strerror}"
    if size < POINTER and _LFS.match(head):
        return "git_lfs_pointer", IN_LFS
    if size < POINTER and _ANNEX.match(head):
        return "git_annex_pointer", IN_ANNEX
    return ("empty", "the file is empty") if size < POINTER and not head.strip() else None


def hint_for(path: Path, sources: Iterable[Source], is_run: IsRun) -> str:
    hint = _without_content(path) or _empty(path) or _left_over(path, is_run)
    if hint:
        return hint
    for source in sources:
        explain = getattr(source, "explain", None)
        if explain and (hint := explain(path)):
            return f"{hint}\n{_FURTHER}"
    parents = path.parents if len(path.parts) > ABOVE else path.absolute().parents
    if above := next(filter(is_run, parents[:ABOVE]), None):
        return f"it is part of a run; import the whole run: `errata import {shell_word(above)}`"
    if known := _known_at(path):
        name = "it" if known.file == path else f"`{known.file.relative_to(path).as_posix()}`"
        drafts = f"`errata map {shlex.quote(str(known.file))}` drafts a mapping"
        what = f"{name} looks like {known.telltale.what}: not supported yet"
        return f"{what}; describe it with `--map`; {drafts}\n{_FURTHER}"
    if table := _table_at(path):
        return f"`errata map {shlex.quote(str(table))}` drafts a mapping for a table of your own\n{_FURTHER}"
    return "`errata sources` lists the supported formats; describe your own with `--map`"


_FURTHER = "all formats: `errata sources` · name one: `--source`"


def _empty(path: Path) -> str:
    try:
        if path.is_file():
            return "the file is empty" if path.stat().st_size == 0 else ""
        below = list(islice(path.rglob("*"), LOOKS))
        sizes = [child.stat().st_size for child in below if child.is_file()]
    except OSError:
        return ""
    if not below:
        return "the folder is empty"
    if any(sizes) or len(below) == LOOKS:
        return ""
    return "all files in the folder are empty" if sizes else "the folder contains only empty folders"


def _without_content(path: Path) -> str:
    """A hint for pointers to data that is elsewhere: the path itself, or most files below it."""
    files = list(islice(_with_links(path), FILES_CAP))
    reasons = [missing_content(file) for file in files]
    pointers = [reason[1] for reason in reasons if reason and reason[0] in ("git_lfs_pointer", "git_annex_pointer")]
    if not pointers or len(pointers) * 2 < len(files):
        return ""
    return pointers[0] if path.is_file() else f"{len(pointers)} of {len(files)} files: {pointers[0]}"


def _left_over(path: Path, is_run: IsRun) -> str:
    """A hint for the temporary file of an interrupted write."""
    named = LEFT_OVER.match(path.name) if path.is_file() else None
    finished = path.with_name(named["name"]) if named else None
    if finished is None:
        return ""
    if not finished.is_file():
        return "this is a temporary file of an interrupted write, and the finished file is missing"
    target = next((found for found in (path.parent, finished) if is_run(found)), finished)
    command = f"errata import {shell_word(target)}"
    return f"this is a temporary file of an interrupted write; import the finished one:\n`{command}`"


def _with_links(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
    for folder, names, files in os.walk(path):
        names[:] = sorted(name for name in names if not name.startswith("."))
        yield from (Path(folder, name) for name in sorted(files))


def _table_at(path: Path) -> Path | None:
    """The path itself, if it is a table or a folder with one; a damaged document is none."""
    if path.is_file():
        return path if path.suffix.lower() in SUFFIXES and not cut_off(path) else None
    here = [file for file in islice(_files(path, 0), FILES_CAP) if file.suffix.lower() in SUFFIXES]
    return path if here else None


class _KnownHarness(NamedTuple):
    telltale: Telltale
    file: Path


def _known_at(path: Path) -> _KnownHarness | None:
    """The first file at or below a path with the words of a known harness."""
    for file in islice(_files(path, 0), FILES_CAP):
        if telltale := unsupported_harness(file):
            return _KnownHarness(telltale, file)
    return None


def _files(path: Path, depth: int) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif depth < DEPTH:
        for child in children(path):
            yield from _files(child, depth + 1)
