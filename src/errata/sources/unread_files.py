"""Files of an imported folder that no source read: which of them look like results, and why they were not read."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from errata.model import UnreadFile, UnreadFiles
from errata.sources.base import RecognisedPath, Source, decode, files, head_of, small_file
from errata.sources.folder_search import FolderSearch
from errata.sources.hints import (
    LEFT_OVER,
    POINTER,
    SHORTEST_POINTER,
    WHOLE,
    WITH_A_MAPPING,
    ReasonInWords,
    cut_off,
    missing_content,
    points_elsewhere,
    unsupported_harness,
)
from errata.text.lazy_regex import lazy_regex

TABLES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
RESULTS = (*TABLES, ".json", ".eval", ".xml", ".log", ".txt", ".out", ".traj", ".db", ".sqlite", ".sqlite3", ".pkl",
           ".pickle", ".arrow", ".feather", ".xlsx", ".xls")  # fmt: skip
ARCHIVES = (".zip", ".gz", ".tgz", ".zst", ".xz", ".bz2", ".tar", ".7z")
_SUFFIXES = RESULTS + ARCHIVES
_NOT_RESULTS = lazy_regex(
    r"(?:read[-_ ]?me|licen[cs]e|copying|notice|changelog|changes|authors|contributors|contributing|citation"
    r"|requirements|constraints|robots|cmakelists|errata)\b"
    r"|(?:package|package-lock|tsconfig|jsconfig|composer|renovate|lerna|turbo|biome|deno|manifest|vercel"
    r"|pnpm-lock|pyrightconfig|settings|launch|tasks|extensions|devcontainer)(?:\.\w+)?\.json$|pom\.xml$",
    re.IGNORECASE,
)
_DEPENDENCIES = frozenset(("node_modules", "site-packages", "__pycache__", "venv"))
_OBJECTS = lazy_regex(rb"\s*\[\s*\{")
_LINK_OUT = "a link out of the folder: import its target by itself"
EXAMINED = 400
"""Files beyond this number are listed with a reason that needs no reading."""
WALKED = 50_000
BESIDE = 200
"""The most files in the folder of a run that other sources are asked about."""


def unread_files(
    search: FolderSearch, matches: Sequence[RecognisedPath], sources: Mapping[str, Source], *, asked: str = ""
) -> UnreadFiles:
    """`asked` is the source that the user named: others were not asked then.

    A source may define `belongs_to` (whether a file is read with one of the readable paths) and `skipped` (the files of
    a run's folder that it does not read).
    """
    readable = [match.path for match in matches]
    claims = [claim for source in sources.values() if (claim := getattr(source, "belongs_to", None))]
    like_results = [path for path in search.unrecognised if looks_like_results(path, search.root)]
    results = [path for path in like_results if not any(claim(path, readable) for claim in claims)]
    files = [
        _examine(path, sources if at < EXAMINED else {}, reads=at < EXAMINED, asked=asked)
        for at, path in enumerate(results)
    ]
    files += [UnreadFile(path=str(path), reason="link_not_followed", detail=_LINK_OUT) for path in search.outward]
    files += [UnreadFile(path=str(path), reason="no_access", detail=why) for path, why in search.unlistable.items()]
    for match in matches:
        if os.path.isdir(match.path):  # noqa: PTH112 there may be very many, and this takes half the time
            files += _unread_in_run(match, sources)
    return UnreadFiles(
        path=str(search.root),
        files=tuple(sorted(files, key=lambda file: file.path)),
        other_files=len(search.unrecognised) - len(like_results),
        too_deep=tuple(map(str, search.too_deep)),
        not_searched=tuple(map(str, search.not_searched)),
    )


def looks_like_results(path: Path, root: Path) -> bool:
    """By its name; a file without a suffix by its first bytes."""
    inside = path.relative_to(root).parts if path != root else path.parts
    if _NOT_RESULTS.match(path.name) or _DEPENDENCIES & set(inside):
        return False
    suffix = path.suffix.lower()
    if suffix in RESULTS or suffix in ARCHIVES or (path.is_symlink() and path.is_dir()):
        return True
    if named := LEFT_OVER.match(path.name):
        return Path(named["name"]).suffix.lower() in RESULTS
    return not suffix and head_of(path, POINTER).lstrip()[:1] in (b"{", b"[")


def _examine(path: Path, sources: Mapping[str, Source], *, reads: bool, asked: str) -> UnreadFile:
    cause = missing_content(path) if reads or path.is_symlink() else None
    if cause is None and asked:
        cause = "other_format", f"source `{asked}` does not recognise it"
    if cause is None and reads:
        cause = _damaged(path) or _explained(path, sources.values())
    reason, detail = cause or _by_suffix(path)
    return UnreadFile(path=str(path), reason=reason, detail=detail)


def _damaged(path: Path) -> ReasonInWords | None:
    if LEFT_OVER.match(path.name):
        return "temporary", "temporary file of an interrupted write"
    if where := cut_off(path):
        return "truncated", f"damaged JSON: it {where}"
    if path.suffix.lower() != ".json" or path.stat().st_size > WHOLE:
        return None
    content = path.read_bytes()
    if _is_json(content):
        return None
    if b"\n" in content.strip() and _is_json(content.strip().partition(b"\n")[0]):
        return "unknown_table", f"unknown JSON lines; {WITH_A_MAPPING}"
    return "damaged", "not valid JSON"


def _is_json(content: bytes) -> bool:
    try:
        decode(content)
    except ValueError:
        return False
    return True


def _explained(path: Path, sources: Iterable[Source]) -> ReasonInWords | None:
    for source in sources:
        explain = getattr(source, "explain", None)
        if explain and (hint := explain(path)):
            return "part_of_run", hint.replace("\n", " ")
    if known := unsupported_harness(path):
        return "unknown_format", f"looks like {known.what}: not supported yet; {WITH_A_MAPPING}"
    if path.suffix.lower() == ".json" and _OBJECTS.match(head_of(path, POINTER)):
        return "unknown_table", f"unknown list; {WITH_A_MAPPING}"
    return None


def _by_suffix(path: Path) -> ReasonInWords:
    suffix = path.suffix.lower()
    if suffix in TABLES:
        return "unknown_table", f"unknown table; {WITH_A_MAPPING}"
    if suffix == ".json":
        return "unknown_format", f"unknown JSON; {WITH_A_MAPPING}"
    return ("archive", "archive; unpack it first") if suffix in ARCHIVES else ("unknown_format", "unknown format")


def _unread_in_run(match: RecognisedPath, sources: Mapping[str, Source]) -> Iterator[UnreadFile]:
    """In the folder of a run: pointers, what its source skips, and results of other harnesses."""
    for path, reason in _pointers_below(match.path):
        yield UnreadFile(path=str(path), reason=reason[0], detail=reason[1])
    skipped = getattr(match.source, "skipped", None)
    own = {path.absolute() for path in skipped(match.path)} if skipped else set()
    for path in islice(files(match.path), BESIDE):
        if _pointer(path) is not None or not looks_like_results(path, match.path):
            continue
        if other := _other_source(path, match.source, sources.values()):
            detail = f"the folder is read as `{match.source.NAME}`; import this file of `{other}` by itself"
            yield UnreadFile(path=str(path), reason="other_format", detail=detail)
        elif path.absolute() in own:
            yield _examine(path, sources, reads=True, asked="")


def _pointer(path: Path) -> ReasonInWords | None:
    """Only what is certain: a run may well contain empty files."""
    try:
        small = path.is_symlink() or path.stat().st_size < POINTER
    except OSError:
        return None
    reason = missing_content(path) if small else None
    return reason if reason and reason[0] in ("git_lfs_pointer", "git_annex_pointer") else None


def _pointers_below(folder: Path) -> Iterator[tuple[Path, ReasonInWords]]:
    """Of the first files whose names look like results. A run may have very many: only small ones are opened."""
    for entry in islice(_result_entries(str(folder)), WALKED):
        if _may_point(entry) and (reason := _pointer(path := Path(entry.path))):
            yield path, reason


def _may_point(entry: os.DirEntry[str]) -> bool:
    try:
        if entry.is_symlink():
            return True
        if not entry.is_file() or not SHORTEST_POINTER <= entry.stat().st_size < POINTER:
            return False
    except OSError:
        return False
    return points_elsewhere(small_file(entry.path, POINTER) or b"")


def _result_entries(root: str) -> Iterator[os.DirEntry[str]]:
    waiting = [root]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listed:
                entries = list(listed)
        except OSError:
            continue
        below = []
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                below += [entry.path] if not entry.name.startswith(".") and entry.name not in _DEPENDENCIES else []
            elif entry.name.lower().endswith(_SUFFIXES):
                yield entry
        waiting += reversed(below)


def _other_source(path: Path, own: Source, sources: Iterable[Source]) -> str:
    """The one other source that is sure about a file that the folder's own source would not read."""
    if own.recognise(path) is not None:
        return ""
    claims = ((source, source.recognise(path)) for source in sources if source.NAME != own.NAME)
    sure = [source.NAME for source, match in claims if match is not None and match.confidence == "sure"]
    return sure[0] if len(sure) == 1 else ""
