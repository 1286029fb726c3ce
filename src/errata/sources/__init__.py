"""Find the source that reads a path. Sources are listed here; outside packages use the entry points `errata.sources`.

Recognition imports all source packages; each imports its reader only when it reads.
"""

import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, cast

from errata.errors import AmbiguousFormatError, ErrataError, SourceError, UnknownFormatError, nearest
from errata.model import Harness, Item, SourceRef, Unreadable, UnreadFiles
from errata.sources.base import (
    KnowsBasis,
    LogBasis,
    RecognisedPath,
    Source,
    describe,
    heads_kept,
    is_zip,
    losses,
    unreadable,
)
from errata.sources.folder_search import DESCENT_CAP, FolderSearch
from errata.sources.overlapping_files import PassedOver, drop_overlaps, join_folders

__all__ = [
    "BUILT_IN",
    "DESCENT_CAP",
    "FoundPaths",
    "PassedOver",
    "RecognisedPath",
    "all_sources",
    "basis_of",
    "find",
    "harness_of",
    "join_folders",
    "look",
    "read",
    "sift",
    "source_named",
]

BUILT_IN = {
    "convex-evals": "errata.sources.convex_evals",
    "conversation-bench": "errata.sources.conversation_bench",
    "scylla": "errata.sources.scylla",
    "inspect-ai": "errata.sources.inspect_ai",
    "harbor": "errata.sources.harbor",
    "promptfoo": "errata.sources.promptfoo",
    "lm-eval": "errata.sources.lm_eval",
    "swe-bench": "errata.sources.swe_bench",
    "tau-bench": "errata.sources.tau_bench",
    "aider": "errata.sources.aider",
    "who-and-when": "errata.sources.who_and_when",
    "coding-sessions": "errata.sources.coding_sessions",
    "bfcl": "errata.sources.bfcl",
    "helm": "errata.sources.helm",
    "evalscope": "errata.sources.evalscope",
    "every-eval-ever": "errata.sources.every_eval_ever",
    "openai-evals": "errata.sources.openai_evals",
    "deepeval": "errata.sources.deepeval",
    "pydantic-evals": "errata.sources.pydantic_evals",
    "ragas": "errata.sources.ragas",
    "junit": "errata.sources.junit",
    "otlp": "errata.sources.otlp",
    "mlflow": "errata.sources.mlflow",
    "langfuse": "errata.sources.langfuse",
    "pytest-json": "errata.sources.pytest_json",
    "allure": "errata.sources.allure",
    "langsmith": "errata.sources.langsmith",
    "braintrust": "errata.sources.braintrust",
    "errata-jsonl": "errata.sources.errata_jsonl",
    "generic": "errata.sources.generic",
}

OF_ARCHIVES = ("inspect-ai",)
"""The sources that recognise a zip archive; a test checks that no other does."""

GROUP = "errata.sources"


@cache
def all_sources() -> dict[str, Source]:
    """Name → source, built-in ones first."""
    return {name: source_named(name) for name in BUILT_IN} | _added()


@cache
def _added() -> dict[str, Source]:
    """Name → source of outside packages."""
    from importlib.metadata import entry_points  # a reader process of a built-in source does without

    sources: dict[str, Source] = {}
    for entry in entry_points(group=GROUP):
        try:
            source = cast(Source, entry.load())
            sources.setdefault(source.NAME, source)
        except (ImportError, AttributeError) as error:
            # one broken package must not stop every import
            warnings.warn(f"source `{entry.name}` of `{entry.value}` can't be used: {error}", stacklevel=2)
    return {name: source for name, source in sources.items() if name not in BUILT_IN}


def _candidates(path: Path) -> dict[str, Source]:
    """All sources; for an archive only those that read archives: importing the rest takes longer than reading it."""
    if not is_zip(path):
        return all_sources()
    return {name: source_named(name) for name in OF_ARCHIVES} | _added()


def source_named(name: str) -> Source:
    if name in BUILT_IN:  # a reader process needs only this one
        return cast(Source, import_module(BUILT_IN[name]))
    try:
        return all_sources()[name]
    except KeyError:
        known = ", ".join(all_sources())
        raise SourceError(f"No source is named `{name}`", hint=f"one of: {known}") from None


def harness_of(name: str) -> Harness:
    """The harness of a source by name; a run may come from a source that is not installed here."""
    source = source_named(name) if name in BUILT_IN else _added().get(name)
    plain = Harness(name=name, title=name)
    return cast(Harness, getattr(source, "HARNESS", plain))


def find(path: Path, *, source: str = "") -> list[RecognisedPath]:
    """The readable paths: the path itself, or the runs below it."""
    return look(path, source=source).readable


class FoundPaths(NamedTuple):
    readable: list[RecognisedPath]
    passed_over: list[PassedOver]
    """Files that are skipped because a fuller file of the same evaluation is there."""
    unread: UnreadFiles
    """Files that no source recognises."""


def _hint_for_missing(path: Path) -> str:
    """The entries of its folder that are spelled alike."""
    try:
        alike = [f"`{path.parent / name}`" for name in nearest(path.name, (one.name for one in path.parent.iterdir()))]
    except OSError:
        alike = []
    return f"did you mean {' or '.join(alike)}?" if alike else "check the path"


def look(path: Path, *, source: str = "") -> FoundPaths:
    """What is at a path: the paths to read, and every file that will not be read."""
    if not _exists(path):
        raise SourceError(f"No such file or folder: `{path}`", hint=_hint_for_missing(path))
    candidates = {source: source_named(source)} if source else _candidates(path)
    search = FolderSearch(path, Recogniser(candidates).recognise)
    matches = list(search.matches())
    if not matches:
        raise _unknown(path, source)
    return FoundPaths(*sift(matches), _unread(search, matches, source))


def sift(matches: Sequence[RecognisedPath]) -> tuple[list[RecognisedPath], list[PassedOver]]:
    return drop_overlaps(matches, read)


def read(match: RecognisedPath) -> Iterator[Item]:
    """The items at a path. An error in a source becomes an `Unreadable`, never a crash."""
    from errata.sources.folder_names import named_by_folder

    noted: dict[str, Unreadable] = {}
    before = losses.get()
    losses.set(noted)
    try:
        yield from named_by_folder(match.source.read(match.path), match.path)
    except (ErrataError, GeneratorExit, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 one of the five places: where a source is read
        yield unreadable(match.source.NAME, SourceRef(file=match.path.name), describe(error))
    finally:
        losses.set(before)
    yield from noted.values()


def basis_of(match: RecognisedPath) -> LogBasis | None:
    return match.source.basis_of(match.path) if isinstance(match.source, KnowsBasis) else None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # not a valid file name
        return False


class Recogniser:
    """Asks every source about a path, or only one: a folder of very many files mostly has files of one kind."""

    def __init__(self, candidates: dict[str, Source]) -> None:
        self._candidates = candidates
        self._kind: tuple[str, str] = ("", "")
        self._source: Source | None = None
        """The source that was sure of the last file of this folder and suffix."""

    def recognise(self, path: Path) -> RecognisedPath | None:
        kind = str(path.parent), path.suffix
        with heads_kept():
            if self._source is not None and kind == self._kind:
                match = self._source.recognise(path)
                if match is not None and match.confidence == "sure":
                    return RecognisedPath(path, self._source, match)
            best = _recognise(path, self._candidates)
        if best is not None and path.suffix and best.match.confidence == "sure":
            self._kind, self._source = kind, best.source
        return best


def _recognise(path: Path, candidates: dict[str, Source]) -> RecognisedPath | None:
    matches = []
    for source in candidates.values():
        match = source.recognise(path)
        if match is not None:
            matches.append(RecognisedPath(path, source, match))
    sure = [found for found in matches if found.match.confidence == "sure"] or matches
    if len(sure) > 1:
        names = ", ".join(f"`{found.source.NAME}` ({found.match.because})" for found in sure)
        raise AmbiguousFormatError(f"Several sources recognise `{path}`: {names}", hint="name one with `--source`")
    return sure[0] if sure else None


def _unread(search: FolderSearch, matches: Sequence[RecognisedPath], source: str) -> UnreadFiles:
    if not search.root.is_dir():
        return UnreadFiles(path=str(search.root))
    from errata.sources.unread_files import unread_files

    return unread_files(search, matches, all_sources(), asked=source)


def _unknown(path: Path, source: str) -> UnknownFormatError:
    from errata.sources.hints import cut_off, hint_for

    message = f"Source `{source}` does not recognise `{path}`" if source else f"No source recognises `{path}`"
    if stops := cut_off(path):
        message = f"`{path.name}` {stops}"
    return UnknownFormatError(message, hint=hint_for(path, all_sources().values(), _is_run))


def _is_run(path: Path) -> bool:
    return any(source.recognise(path) is not None for source in all_sources().values())
