"""What a project file may set before its user trusts it, decided by the effect of each setting.

The file may come with a download that nobody has checked. Settings that decide owners, enter prompts, run programs
or send data must be in the user's own file, or in a project file that the user trusts. `errata/trusted.json` below
`$XDG_STATE_HOME` maps the paths of trusted files to hashes of their content and of the rules and taxonomies they name,
so a changed file is no longer trusted. In CI, `ERRATA_TRUST` holds such hashes.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from errata.errors import SettingsError
from errata.model.store_address import is_address, masked
from errata.settings.paths import bytes_of, files_below, state_home

TRUSTED = "trusted.json"
VARIABLE = "ERRATA_TRUST"
Effect = Literal["path", "policy", "display", "owners", "prompts", "programs", "network"]
EFFECTS: Mapping[str, Effect] = {
    "store": "path",
    "timeouts": "policy",
    "rules": "owners",
    "taxonomies": "prompts",
    "reviewers": "programs",
    "deployments": "network",
}
"""What each setting can change. One that is not listed needs trust."""
FREE: frozenset[Effect] = frozenset(("path", "policy", "display"))
"""Effects that need no trust: paths stay inside the project, and policies are named beside the score."""
NAMED_FILES = ("rules", "taxonomies")
"""Settings that name files; trust covers their content, too."""
_CAN: Mapping[Effect | None, str] = {
    "owners": "decides who owns a failure",
    "prompts": "decides the labels of failures and what a reviewer is asked",
    "programs": "can run programs and send data elsewhere",
    "network": "can send data, requests and keys elsewhere",
    None: "has an effect that is not known",
}


def effect_of(key: str, value: object) -> Effect | None:
    """Of a setting with this value: a store at an address takes all that is imported to another machine."""
    if key == "store" and isinstance(value, str) and is_address(value):
        return "network"
    return EFFECTS.get(key)


def needs_trust(key: str, value: object = None) -> bool:
    return effect_of(key, value) not in FREE


def refuse_untrusted(path: Path, content: bytes, table: Mapping[str, Any], environ: Mapping[str, str]) -> None:
    named = next((key for key, value in table.items() if needs_trust(key, value)), "")
    if named and not is_trusted(path, trust_hash(path, content, table), environ):
        raise SettingsError(
            f"`{named}` in `{path}` {_CAN[effect_of(named, table[named])]}, and this file is not trusted",
            hint="check it and the files it names, then run `errata trust` (in CI set `ERRATA_TRUST`);\n"
            "or move the setting to your own configuration, or work in another folder",
        )


def trust_hash(path: Path, content: bytes, table: Mapping[str, Any]) -> str:
    """Of the file, and of the rules and taxonomies it names: they have the same effects wherever they are written."""
    digest = hashlib.sha256(content)
    for file in files_named(path, table):
        inner = bytes_of(file)
        digest.update(b"\0%s\0%d\0" % (os.fsencode(file.relative_to(path.parent)), len(inner)))
        digest.update(inner)
    return digest.hexdigest()


def files_named(path: Path, table: Mapping[str, Any]) -> tuple[Path, ...]:
    """The rules and taxonomies; values of another type are refused when the file is parsed."""
    listed = {key: table[key] for key in NAMED_FILES if isinstance(table.get(key), list)}
    patterns = {key: [one for one in value if isinstance(one, str)] for key, value in listed.items()}
    return tuple(file for key, named in patterns.items() for file in files_below(path, key, named))


def is_trusted(path: Path, sha256: str, environ: Mapping[str, str]) -> bool:
    in_variable = environ.get(VARIABLE, "").lower().replace(",", " ").split()
    return sha256 in in_variable or trusted_files(environ).get(str(path.resolve())) == sha256


def trusted_files(environ: Mapping[str, str]) -> dict[str, str]:
    """Path → hash of the trusted content; empty if the list can't be read."""
    home = state_home(environ)
    try:
        known = (home / TRUSTED).read_bytes() if home is not None else b"{}"
        return msgspec.json.decode(known, type=dict[str, str])
    except (OSError, msgspec.DecodeError):
        return {}


def keep_trust(path: Path, sha256: str, environ: Mapping[str, str]) -> None:
    _write(trusted_files(environ) | {str(path.resolve()): sha256}, environ)


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


def settings_that_need_trust(table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What trusting a file would allow: full name and value of each setting."""
    return [leaf for key in table if needs_trust(key, table[key]) for leaf in _leaves(key, table[key])]


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, str):
        yield name, masked(value)
        return
    if not isinstance(value, dict) or not value:
        yield name, value
        return
    for key, item in value.items():
        yield from _leaves(f"{name}.{key}", item)
