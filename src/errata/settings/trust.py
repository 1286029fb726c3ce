"""Settings that an untrusted project file may not contain: it may come with a download that nobody has checked.

Settings that run programs, name hosts or choose keys must be in the user's own file, or in a project file that the user
trusts. `errata/trusted.json` below `$XDG_STATE_HOME` maps the paths of trusted files to hashes of their content, so a
changed file is no longer trusted.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from errata.errors import SettingsError
from errata.settings.paths import state_home

TRUSTED = "trusted.json"
RUNS = ("command", "commands", "reviewer", "reviewers", "env", "passes")
NAMES_HOSTS = ("base_url", "url", "host", "hosts", "headers", "deployment", "deployments", "fetch", "provider")
NAMES_KEYS = ("api_key", "key", "keys", "key_env", "key_name", "token", "llm", "model", "models")
GUARDED = frozenset((*RUNS, *NAMES_HOSTS, *NAMES_KEYS))
"""Keys, at any level of the file, that run programs or name hosts, keys and deployments."""


def refuse_guarded(path: Path, content: bytes, table: Mapping[str, Any], environ: Mapping[str, str]) -> None:
    named = next(_guarded(table), "")
    if named and not is_trusted(path, content, environ):
        raise SettingsError(
            f"`{named}` in `{path}` can run programs or send data elsewhere, and this file is not trusted",
            hint="put it into your own configuration, or check the file and run `errata trust`",
        )


def is_trusted(path: Path, content: bytes, environ: Mapping[str, str]) -> bool:
    return trusted_files(environ).get(str(path.resolve())) == hash_of(content)


def trusted_files(environ: Mapping[str, str]) -> dict[str, str]:
    """Path → hash of the trusted content; empty if the list can't be read."""
    home = state_home(environ)
    try:
        known = (home / TRUSTED).read_bytes() if home is not None else b"{}"
        return msgspec.json.decode(known, type=dict[str, str])
    except (OSError, msgspec.DecodeError):
        return {}


def keep_trust(path: Path, content: bytes, environ: Mapping[str, str]) -> None:
    _write(trusted_files(environ) | {str(path.resolve()): hash_of(content)}, environ)


def end_trust(path: Path, environ: Mapping[str, str]) -> bool:
    """False if the file was not trusted."""
    known = trusted_files(environ)
    was_trusted = known.pop(str(path.resolve()), None) is not None
    if was_trusted:
        _write(known, environ)
    return was_trusted


def _write(known: dict[str, str], environ: Mapping[str, str]) -> None:
    """Atomically, and with access for its owner only: whoever can write it decides what runs."""
    home = state_home(environ)
    if home is None:
        raise SettingsError("There is no folder to store this in", hint="set `XDG_STATE_HOME` or `HOME`")
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = home / f"{TRUSTED}.{os.getpid()}"
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(known), indent=2) + b"\n")
        new.replace(home / TRUSTED)
    except OSError as error:
        raise SettingsError(
            f"`{home / TRUSTED}` can't be written: {error.strerror}", hint="fix its permissions"
        ) from error


def guarded_in(table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The settings that trusting a file would allow: full name and value of each."""
    return [leaf for key in table for leaf in _leaves(key, table[key], guarded=key.lower() in GUARDED)]


def _leaves(name: str, value: Any, *, guarded: bool) -> Iterator[tuple[str, Any]]:
    inner = value if isinstance(value, dict) else {}
    for key, item in inner.items():
        yield from _leaves(f"{name}.{key}", item, guarded=guarded or key.lower() in GUARDED)
    if not inner and (guarded or any(_guarded({"": value}))):
        yield name, value


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
