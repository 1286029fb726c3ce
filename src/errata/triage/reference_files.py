"""Files of a reference beside those of an answer: which of them were asked for, and whether they are the same."""

import json
import re
from collections.abc import Iterable, Mapping

from errata.model import Artefact, Attempt, Case
from errata.text.lazy_regex import lazy_regex
from errata.text.tool_output import find_key_line

# what belongs to a project but is not part of an answer
_BESIDE = lazy_regex(
    r"(?:^|/)(?:tsconfig[^/]*\.json|jsconfig\.json|package\.json|composer\.json|[^/]*[.-]lock(?:\.json|\.yaml|b)?"
    r"|npm-shrinkwrap\.json|go\.sum|(?:README|LICEN[CS]E|CHANGELOG|NOTICE)[^/]*|\.[^/]+|[^/]*\.md)$"
    r"|(?:^|/)(?:_generated|node_modules|\.git|dist|build)/",
    re.IGNORECASE,
)
_CODE = lazy_regex(r"\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|c|cc|cpp|h|hpp|rb|php|cs|swift|scala|sql|sh|vue|svelte)$")
_MANIFEST = "package.json"
_DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies")


def equal_files(reference: Iterable[Artefact], answer: Iterable[Artefact]) -> tuple[str, str] | None:
    """The first file of an answer that is the reference, and its first line; none where a file differs or is missing.

    Notes, settings and data beside the code of a reference are nothing that a subject is asked for. A manifest has to
    name the same dependencies where both have one.
    """
    expected = {file_name(one): one.text for one in reference if one.role == "expected"}
    given = {file_name(one): one.text for one in answer if one.role == "output"}
    asked = _asked_for(expected)
    if not asked or not all(text and _is_same(text, given.get(name)) for name, text in asked.items()):
        return None
    if not _same_dependencies(expected, given):
        return None
    name, text = next(iter(asked.items()))
    return name, next(iter((text or "").strip().splitlines()), "")


def file_name(artefact: Artefact) -> str:
    return artefact.path.removeprefix("answer/").removeprefix("output/")


def is_about_another_file(attempt: Attempt, case: Case) -> bool:
    """Every failed check complains about a file of the answer that the reference does not have."""
    expected = {file_name(one) for one in case.artefacts if one.role == "expected"}
    added = {file_name(one) for one in attempt.artefacts if one.role == "output"} - expected
    keys = [find_key_line(check.explanation) for check in attempt.checks if check.failed]
    return bool(keys) and all(key is not None and key.file in added for key in keys)


def _asked_for(files: Mapping[str, str | None]) -> dict[str, str | None]:
    """The code, where there is any; else every file that is part of an answer."""
    parts = {name: text for name, text in files.items() if _BESIDE.search(name) is None}
    return {name: text for name, text in parts.items() if _CODE.search(name)} or parts


def _is_same(first: str, other: str | None) -> bool:
    return other is not None and first.split() == other.split()


def _same_dependencies(expected: Mapping[str, str | None], given: Mapping[str, str | None]) -> bool:
    manifests = [files.get(_MANIFEST) for files in (expected, given)]
    return None in manifests or len({str(_dependencies(one or "")) for one in manifests}) == 1


def _dependencies(manifest: str) -> object:
    """Their names; the text itself where it is not a manifest."""
    try:
        fields = json.loads(manifest)
    except (ValueError, RecursionError):
        return manifest.split()
    if not isinstance(fields, dict):
        return manifest.split()
    listed = [fields[key] for key in _DEPENDENCIES if isinstance(fields.get(key), dict)]
    return sorted({name for names in listed for name in names})
