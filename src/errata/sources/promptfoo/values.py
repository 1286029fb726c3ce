"""promptfoo's own values: times in two formats, settings that may hold secrets, and which case a row tries."""

from collections.abc import Collection
from functools import lru_cache
from typing import Any

import msgspec

from errata.model import Case, Run, SourceRef
from errata.model.identity import fingerprint
from errata.model.times import from_milliseconds
from errata.sources.shared import values
from errata.sources.shared.values import has_value, mapping, number, plain, sequence, text
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

NOT_KEPT = "[not kept]"
"""Replaces a value that may be a secret; its name stays."""
_SECRET_ENDS = (
    "apikey",
    "accesskey",
    "accesskeyid",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "token",
)
_ENVIRONMENT = frozenset(("env", "environ", "environment", "envvars", "envoverrides"))
_HEADERS = frozenset(("headers", "requestheaders", "responseheaders", "extraheaders", "defaultheaders"))
_HARMLESS_HEADERS = frozenset(("accept", "acceptencoding", "contenttype", "useragent"))
_encode = msgspec.json.Encoder(order="deterministic").encode


def moment(value: Any) -> str | None:
    """ISO text, or milliseconds since 1970."""
    since = number(value)
    try:
        return values.moment(value) if since is None else from_milliseconds(since)
    except (ValueError, OverflowError, OSError):
        return None


def as_text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else _encode(plain(value)).decode()


def without_secrets(value: Any, name: str = "") -> Any:
    sort = _sort(name) if name else ""
    if sort == "secret" and isinstance(value, str | dict | list) and value:
        return NOT_KEPT
    if isinstance(value, list):
        return [without_secrets(child) for child in value]
    if not isinstance(value, dict):
        return value if isinstance(value, str) else plain(value)
    if sort == "environment":
        return dict.fromkeys(value, NOT_KEPT)
    if sort == "headers":
        return {key: child if _harmless(key) else NOT_KEPT for key, child in value.items()}
    if name == "http" and "status" in value:
        return {
            key: _response_headers(child) if key == "headers" else without_secrets(child, key)
            for key, child in value.items()
        }
    return {key: without_secrets(child, key) for key, child in value.items()}


def rest(document: dict[str, Any], known: Collection[str] = ()) -> dict[str, Any]:
    """The fields that no field of a record holds."""
    return {
        key: without_secrets(value, key) for key, value in document.items() if key not in known and has_value(value)
    }


@lru_cache(maxsize=4096)
def _sort(name: str) -> str:
    """What a name reveals about its value, however it is spelled."""
    bare = "".join(letter for letter in name.lower() if letter.isalnum())
    if bare.endswith(_SECRET_ENDS):
        return "secret"
    return "environment" if bare in _ENVIRONMENT else "headers" if bare in _HEADERS else ""


def _harmless(header: str) -> bool:
    return header.lower().replace("-", "") in _HARMLESS_HEADERS


def _response_headers(headers: Any) -> Any:
    """Response headers: kept, except for cookies and the like."""
    return (
        {key: without_secrets(child, key) for key, child in headers.items()}
        if isinstance(headers, dict)
        else without_secrets(headers)
    )


# --- which case a row is an attempt at
# promptfoo has no ids: `testIdx` depends on the file, and repeats get their own.


LONGEST_NAME = 160
# promptfoo's name for a CSV line without a description: a position, not a name
_NUMBERED = lazy_regex(r"Row #\d+")
_KNOWN = ("description", "vars", "assert")


class PromptfooNaming:
    """A test is named by its description if that is unique, otherwise by a hash of its input and its assertions."""

    def __init__(self) -> None:
        self._described: dict[str, str] = {}
        self._ambiguous: set[str] = set()

    def note(self, row: dict[str, Any]) -> None:
        described_as = description(row)
        if described_as and described_as not in self._ambiguous:
            content = digest(row)
            if self._described.setdefault(described_as, content) != content:
                self._ambiguous.add(described_as)

    def name(self, row: dict[str, Any]) -> str:
        described_as = description(row)
        if not described_as or _NUMBERED.fullmatch(described_as):
            return f"input-{digest(row)}"
        if described_as in self._ambiguous or len(described_as) > LONGEST_NAME:
            return f"{one_line(described_as, LONGEST_NAME)} [{digest(row)}]"
        return described_as


def case_of(run: Run, name: str, row: dict[str, Any], ref: SourceRef) -> Case:
    test = mapping(row.get("testCase"))
    metadata = mapping(test.get("metadata"))
    raw = mapping(row.get("prompt")).get("raw")
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=name,
        name=description(row),
        category=text(metadata.get("category")) or text(metadata.get("pluginId")),
        tags=tuple(tag for tag in sequence(metadata.get("tags")) if isinstance(tag, str)),
        input=plain(test_vars(row)) or plain(raw),
        expected=without_secrets(test.get("assert")) or None,
        difficulty=text(metadata.get("difficulty")),
        extra=rest(test, _KNOWN),
        ref=ref.below("testCase") if test else ref,
    )


def test_vars(row: dict[str, Any]) -> Any:
    """The variables of the test; those of the row may have changed while it ran."""
    variables = mapping(row.get("testCase")).get("vars")
    return variables if isinstance(variables, dict) else row.get("vars")


def description(row: dict[str, Any]) -> str:
    test_description = mapping(row.get("testCase")).get("description")
    return " ".join((text(test_description) or text(row.get("description"))).split())


def digest(row: dict[str, Any]) -> str:
    return fingerprint(
        description(row), plain(test_vars(row)), without_secrets(mapping(row.get("testCase")).get("assert")), size=6
    )
