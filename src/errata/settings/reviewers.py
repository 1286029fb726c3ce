"""Reviewers by name: the model or program, how to reach it, and its price."""

from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from errata.errors import SettingsError, did_you_mean
from errata.text.lazy_regex import lazy_regex

EXAMPLE = '`[reviewers.careful]` with `kind = "llm"` and `model = "openai:gpt-5"`, or `kind = "command"` and `command`'
_NAME = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VARIABLE = lazy_regex(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class ReviewerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Never holds a key itself: `key_name` is the environment variable that does."""

    kind: Literal["llm", "command"]
    model: str = ""
    base_url: str = ""
    key_name: str = ""
    temperature: float | None = None
    price_in: float | None = None
    """Dollars per million tokens."""
    price_out: float | None = None
    command: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    """Environment variables that the program gets besides PATH, HOME and the locale."""
    per_minute: int | None = None
    tokens_per_minute: int | None = None


ONLY = {
    "llm": ("model", "base_url", "key_name", "temperature"),
    "command": ("command", "passes"),
}
FIELDS: dict[str, Any] = {field.name: field.type for field in msgspec.structs.fields(ReviewerSettings)}


def reviewers_in(path: Path, tables: dict[str, dict[str, Any]]) -> dict[str, ReviewerSettings]:
    return {name: _reviewer(path, name, table) for name, table in tables.items()}


def refuse_address(named: str, where: str, *, key_name: str = "") -> None:
    """An address must be complete and without a password; a key is never sent unencrypted."""
    try:
        parts = urlsplit(named)
        host, whole = parts.hostname or "", parts.scheme in ("http", "https") and not parts.username
    except ValueError:
        host, whole = "", False
    if not (host and whole):
        raise SettingsError(
            f"`{named}` of {where} is not a valid address", hint="use one such as `https://example.com/v1`"
        )
    if key_name and parts.scheme == "http" and host not in _LOOPBACK:
        hint = "use `https://`; without `key_name` no key is sent"
        raise SettingsError(f"`{named}` of {where} would get the key in `{key_name}` unencrypted", hint=hint)


def _reviewer(path: Path, name: str, table: dict[str, Any]) -> ReviewerSettings:
    where = f"`reviewers.{name}` in `{path}`"
    if not _NAME.fullmatch(name):
        raise SettingsError(f"{where} has an invalid name", hint="use letters, digits, `.`, `_` and `-`")
    for key in table:
        if key not in FIELDS:
            meant = did_you_mean(key, FIELDS) or f"use one of: {', '.join(f'`{field}`' for field in FIELDS)}"
            raise SettingsError(f"{where} has an unknown setting `{key}`", hint=meant)
    try:
        made = msgspec.convert(table, ReviewerSettings)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{where} can't be used: {error}", hint=f"it takes {EXAMPLE}") from error
    _refuse_contradictions(made, where, table)
    return msgspec.structs.replace(made, command=located(made.command, path.parent))


def _refuse_contradictions(made: ReviewerSettings, where: str, table: dict[str, Any]) -> None:
    foreign = next((key for kind, keys in ONLY.items() if kind != made.kind for key in keys if key in table), "")
    if foreign:
        raise SettingsError(
            f"{where} has `{foreign}`, which does not apply to a reviewer of kind `{made.kind}`", hint=EXAMPLE
        )
    if not (made.model if made.kind == "llm" else made.command):
        missing = "model" if made.kind == "llm" else "command"
        raise SettingsError(f"{where} is of kind `{made.kind}` but has no `{missing}`", hint=EXAMPLE)
    for variable in (*made.passes, *([made.key_name] if made.key_name else [])):
        if not _VARIABLE.fullmatch(variable):
            hint = 'use the name, such as `key_name = "OPENAI_API_KEY"`; never the key itself'
            raise SettingsError(f"{where} has an invalid name of an environment variable", hint=hint)
    if made.base_url:
        refuse_address(made.base_url, f"`base_url` of {where}", key_name=made.key_name)
    for key in ("price_in", "price_out", "temperature", "per_minute", "tokens_per_minute"):
        value = getattr(made, key)
        least = 1 if key.endswith("minute") else 0
        if value is not None and not least <= value < float("inf"):
            raise SettingsError(f"`{key}` of {where} is {value}", hint=f"use {least} or more")


def located(argv: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """A reviewer program runs in an empty folder, so the files in its arguments become absolute paths."""
    return tuple(_located(word, folder, first=at == 0) for at, word in enumerate(argv))


def _located(word: str, folder: Path, *, first: bool) -> str:
    """The program itself is searched in PATH, unless it contains a slash."""
    if first and "/" not in word:
        return word
    try:
        path = folder / Path(word).expanduser()
        return str(path.absolute()) if not word.startswith("-") and path.is_file() else word
    except (OSError, ValueError, RuntimeError):
        return word
