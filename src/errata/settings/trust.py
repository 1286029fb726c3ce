"""What a project's own file may not decide: it comes with a download, and nobody has looked at it yet.

Data is taken from it. What runs a program, names a host or says which key to send comes from the user's own file, or
from a project's file whose content the user has trusted: its hash stands in `errata/trusted.json` below
`$XDG_STATE_HOME`, under its path. A file that was changed since is trusted no more.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from errata.errors import SettingsError
from errata.settings.homes import state_home

TRUSTED = "trusted.json"
RUNS = ("command", "commands", "reviewer", "reviewers", "env")
NAMES_HOSTS = ("base_url", "url", "host", "hosts", "headers", "deployment", "deployments", "fetch", "provider")
NAMES_KEYS = ("api_key", "key", "keys", "key_env", "token", "llm", "model", "models")
GUARDED = frozenset((*RUNS, *NAMES_HOSTS, *NAMES_KEYS))
"""Wherever in the file they stand: what executes, and what names hosts, keys and deployments."""


def refuse_guarded(path: Path, content: bytes, table: Mapping[str, Any], environ: Mapping[str, str]) -> None:
    named = next(_guarded(table), "")
    if named and not is_trusted(path, content, environ):
        raise SettingsError(
            f"`{named}` in `{path}` can run programs or send data elsewhere, and this file is not trusted",
            hint="put it into your own configuration, or read the file and then say `errata trust`",
        )


def is_trusted(path: Path, content: bytes, environ: Mapping[str, str]) -> bool:
    home = state_home(environ)
    if home is None:
        return False
    try:
        known = msgspec.json.decode((home / TRUSTED).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError):
        return False
    return known.get(str(path.resolve())) == hash_of(content)


def hash_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _guarded(table: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, value in table.items():
        name = f"{above}{key}"
        if key.lower() in GUARDED:
            yield name
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from _guarded(inner, f"{name}.")
