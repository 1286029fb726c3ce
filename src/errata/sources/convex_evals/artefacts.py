"""Files of an eval as artefacts: what the model wrote, what it was asked, what was expected and what graded it."""

import re
from collections.abc import Callable, Iterable

from errata.model import Artefact, SourceRef
from errata.model.words import ArtefactRole
from errata.sources.convex_evals.vocabulary import RAW_RESPONSE, RAW_RESPONSE_CAP, RUN_LOG

BINARY = "<binary file>"
"""What the harness gives in place of a file that is not text."""
TEXT_CAP = 4 * 1024 * 1024
_TEXT = re.compile(r"[.](?:[jt]sx?|json|md|txt|html|css|ya?ml|toml|env|log|gitignore|npmrc)$", re.IGNORECASE)

Role = Callable[[str], ArtefactRole]


def output_role(path: str) -> ArtefactRole:
    return "log" if path == RUN_LOG else "output"


def source_role(path: str) -> ArtefactRole:
    if path.startswith("answer/"):
        return "expected"
    if path == "TASK.txt":
        return "task"
    if path == "GAPS.txt":
        # what the authors know to be lacking; no part of the task, so it must not change the case's digest
        return "context"
    return "grader" if path.startswith("grader") or ".test." in path else "config"


def from_bytes(path: str, data: bytes, role: Role, ref: SourceRef) -> Artefact:
    """Text by the same rule as the harness has: by the ending of the name."""
    if not _is_text(path):
        return Artefact(role=role(path), path=path, size=len(data), binary=True, ref=ref)
    return _made(path, data.decode("utf-8", "replace"), len(data), role, ref)


def from_text(path: str, text: str, role: Role, ref: SourceRef) -> Artefact:
    if text == BINARY and not _is_text(path):
        return Artefact(role=role(path), path=path, binary=True, ref=ref)
    return _made(path, text, len(text.encode("utf-8", "replace")), role, ref)


def raw_response(artefacts: Iterable[Artefact]) -> str | None:
    """The answer itself; the harness keeps it only where it could not take files out of it."""
    return next((artefact.text for artefact in artefacts if artefact.path == RAW_RESPONSE), None)


def _made(path: str, text: str, size: int, role: Role, ref: SourceRef) -> Artefact:
    if _holds_environment(path):
        return Artefact(
            role=role(path), path=path, size=size, extra={"text": "left out: values of environment"}, ref=ref
        )
    cut = len(text) > TEXT_CAP or (path == RAW_RESPONSE and len(text) >= RAW_RESPONSE_CAP)
    return Artefact(role=role(path), path=path, size=size, text=text[:TEXT_CAP], truncated=cut, ref=ref)


def _holds_environment(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return name.startswith(".env") or name.endswith(".env")


def _is_text(path: str) -> bool:
    return _TEXT.search(path) is not None
