"""Saved answers of a convex deployment: which function one came from is seen by its content, never by its name."""

from pathlib import Path
from typing import Any, Literal, NamedTuple

from errata.model import SourceRef, Unreadable
from errata.sources.base import EXCERPT, FILE_CAP, decode, describe, relative, unreadable
from errata.sources.convex_evals.vocabulary import NAME
from errata.sources.shared.values import mapping, plain, text
from errata.text.clean import one_line

Kind = Literal["details", "failed", "debug"]
TITLES: dict[Kind, str] = {
    "details": "runs:getRunDetails",
    "failed": "debugQueries:getFailedEvalsForRun",
    "debug": "debug:getEvalDebugInfo",
}


class Answer(NamedTuple):
    kind: Kind
    value: dict[str, Any]
    """Of a debug answer without its files: these are read again when their eval's turn comes."""
    path: Path
    ref: SourceRef


class Refusal(NamedTuple):
    """Convex answered, but with an error or with nothing."""

    why: str


class Aside(NamedTuple):
    """Convex answered something that says nothing of a run: download addresses."""


class Foreign(NamedTuple):
    """No answer about a run, whoever wrote it."""

    why: str = "not an answer about a run of convex-evals"


def read_answer(path: Path, root: Path) -> Answer | Unreadable | None:
    """The answer in a file; none where it is one that says nothing of a run."""
    ref = SourceRef(file=relative(path, root))
    try:
        if path.stat().st_size > FILE_CAP:
            return unreadable(NAME, ref, f"larger than {FILE_CAP // 2**20} MB")
        data = path.read_bytes()
        document = decode_answer(data)
    except (OSError, ValueError, RecursionError) as error:
        return unreadable(NAME, ref, describe(error))
    found = classify(document)
    if isinstance(found, Aside):
        return None
    if isinstance(found, Refusal | Foreign):
        return unreadable(NAME, ref, found.why, excerpt=data[:EXCERPT])
    value = unwrap(document)
    if found == "debug":
        value = {key: child for key, child in value.items() if key not in ("outputFiles", "evalSourceFiles")}
    return Answer(found, value, path, SourceRef(file=ref.file, pointer="/value" if _is_envelope(document) else ""))


def debug_files(answer: Answer) -> dict[str, dict[str, Any]]:
    """`outputFiles` and `evalSourceFiles` of a debug answer."""
    try:
        value = mapping(unwrap(decode_answer(answer.path.read_bytes())))
    except (OSError, ValueError, RecursionError):
        return {}
    return {name: value[name] for name in ("outputFiles", "evalSourceFiles") if isinstance(value.get(name), dict)}


def decode_answer(data: bytes) -> Any:
    """JSON, or what `npx convex run` printed with its log lines before, between and after."""
    try:
        return decode(data)
    except ValueError:
        bare = _without_log_lines(data)
        if bare is None:
            raise
        return decode(bare)


def classify(document: Any) -> Kind | Refusal | Aside | Foreign:
    if _is_envelope(document):
        if document.get("status") == "error" or "errorMessage" in document:
            return Refusal(f"convex answered with an error: {one_line(text(document.get('errorMessage')), 300)}")
        if isinstance(document.get("value"), str):
            return Aside()
    value = unwrap(document)
    if value is None:
        return Refusal("convex answered null: there is no such run")
    if isinstance(value, dict):
        return _kind_of(value)
    return Foreign()


def unwrap(document: Any) -> Any:
    return document.get("value") if _is_envelope(document) else document


def _kind_of(value: dict[str, Any]) -> Kind | Refusal | Aside | Foreign:
    if "failedEvals" in value:
        return "failed"
    if "plannedEvals" in value or ("evals" in value and "_id" in value):
        return "details"
    if isinstance(value.get("eval"), dict):
        return "debug"
    if "error" in value:
        return Refusal(f"convex answered with an error: {one_line(str(plain(value['error'])), 300)}")
    if "code" in value and "message" in value:
        return Refusal(f"convex refused the request: {value['code']}: {one_line(str(value['message']), 300)}")
    if value and all(_is_address(entry) for entry in value.values()):
        return Aside()
    return Foreign()


def _is_envelope(document: Any) -> bool:
    return isinstance(document, dict) and (
        ("status" in document and "value" in document and "_id" not in document)
        or "errorMessage" in document
        or ("logLines" in document and document.get("status") in ("success", "error"))
    )


def _is_address(entry: Any) -> bool:
    """One entry of a map from storage id to what `runs:getOutputUrl` answered."""
    value = entry.get("value") if _is_envelope(entry) else entry
    return (isinstance(value, str) and "://" in value) or (_is_envelope(entry) and value is None)


def _without_log_lines(data: bytes) -> bytes | None:
    lines = [line for line in data.splitlines() if not line.startswith(b"[CONVEX ")]
    opening = next((at for at, line in enumerate(lines) if line.startswith(b"{")), None)
    if opening is None:
        return None
    ends = [at for at, line in enumerate(lines) if line.startswith(b"}")]
    closing = ends[-1] if ends else opening
    bare = b"\n".join(lines[opening : closing + 1])
    return bare if bare != data.strip() else None
