"""A project's `errata.toml` and the user's `config.toml`, and which project files are trusted."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from errata.errors import SettingsError, did_you_mean
from errata.model.record import Struct
from errata.model.store_address import StoreLocation, address_of, is_address, masked
from errata.settings.paths import bytes_of, config_home, files_below, path_below, state_home
from errata.settings.reviewers import EXAMPLE, ReviewerSettings, refuse_address, reviewers_in
from errata.text.lazy_regex import lazy_regex

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


PROJECT_FILE = "errata.toml"
USER_FILE = "config.toml"


DEPLOYMENT_EXAMPLE = (
    '`[deployments.staging]` with `url = "https://NAME.convex.cloud"` and, if needed, `key_name = "VARIABLE"`; '
    'or with `store = "staging.db"` for `errata serve`'
)
_VARIABLE = lazy_regex(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


class Deployment(Struct, forbid_unknown_fields=True):
    """Never holds a key itself: `key_name` is the environment variable that does."""

    url: str = ""
    """Where runs are fetched from."""
    key_name: str = ""
    store: str = ""
    """The store that `errata serve --deployment` serves: an address, or a file relative to the settings file."""


class FromFile(Struct):
    """The settings of a file; none for those it lacks."""

    file: Path | None = None
    """The project's file; none for the user's own."""
    store: StoreLocation | None = None
    rules: tuple[Path, ...] = ()
    taxonomies: tuple[Path, ...] = ()
    timeouts: Literal["count", "drop"] | None = None
    reviewers: dict[str, ReviewerSettings] = {}
    deployments: dict[str, Deployment] = {}


FROM_NO_FILE = FromFile()


class _FileContent(Struct):
    """The keys of both files, before paths are resolved."""

    store: str | None = None
    rules: tuple[str, ...] = ()
    taxonomies: tuple[str, ...] = ()
    timeouts: Literal["count", "drop"] | None = None
    reviewers: dict[str, dict[str, Any]] = {}
    deployments: dict[str, dict[str, Any]] = {}


TAKES = {
    "store": 'the path of a file, `store = ".errata/errata.db"`, or an address, `store = "postgresql://HOST/DATABASE"`',
    "rules": 'a list of files: `rules = ["rules/*.toml"]`',
    "taxonomies": 'a list of files: `taxonomies = ["taxonomies/*.toml"]`',
    "timeouts": '`timeouts = "count"` or `timeouts = "drop"`',
    "reviewers": EXAMPLE,
    "deployments": DEPLOYMENT_EXAMPLE,
}


def project_settings(folder: Path, environ: Mapping[str, str]) -> FromFile:
    """The nearest file from a folder upward, like `.git`; until the user trusts it, it may only set paths and policies.

    A link is refused: it would bring the trust of its target to another folder.
    """
    path = project_file(folder)
    if path is None:
        return FROM_NO_FILE
    if path.is_symlink():
        raise SettingsError(f"`{path}` is a link, which is not followed", hint="copy its target, or remove the link")
    content = bytes_of(path)
    table = table_of(path, content)
    refuse_unknown(path, table)
    refuse_untrusted(path, content, table, environ)
    written = _parse(path, table)
    store = _project_store(path, written.store) if written.store is not None else None
    return msgspec.structs.replace(_from_file(path, written, store), file=path)


def _project_store(path: Path, named: str) -> StoreLocation:
    return address_of(named) if is_address(named) else path_below(path, "store", named)


def project_file(folder: Path) -> Path | None:
    return next((place / PROJECT_FILE for place in (folder, *folder.parents) if _is_file(place / PROJECT_FILE)), None)


def user_settings(environ: Mapping[str, str]) -> FromFile:
    home = config_home(environ)
    path = home / USER_FILE if home is not None else None
    if path is None or not _is_file(path):
        return FROM_NO_FILE
    table = table_of(path, bytes_of(path))
    refuse_unknown(path, table)
    written = _parse(path, table)
    store = _store_beside(path, written.store) if written.store else None
    return _from_file(path, written, store)


def _store_beside(path: Path, named: str) -> StoreLocation:
    return address_of(named) if is_address(named) else path.parent / Path(named).expanduser()


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # an unreadable folder above has no settings
        return False


def _from_file(path: Path, written: _FileContent, store: StoreLocation | None) -> FromFile:
    return FromFile(
        store=store,
        rules=files_below(path, "rules", written.rules),
        taxonomies=files_below(path, "taxonomies", written.taxonomies),
        timeouts=written.timeouts,
        reviewers=reviewers_in(path, written.reviewers),
        deployments=deployments_in(path, written.deployments),
    )


def table_of(path: Path, content: bytes) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 only needed if there is a file

    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(
            f"`{path}` is not valid TOML: {error}", hint="docs/configuration.md has an example"
        ) from error


def refuse_unknown(path: Path, table: Mapping[str, Any]) -> None:
    unknown = next((key for key in table if key not in TAKES), None)
    if unknown is not None:
        meant = did_you_mean(unknown, TAKES) or f"use one of: {', '.join(f'`{name}`' for name in TAKES)}"
        raise SettingsError(f"`{path}` has an unknown setting `{unknown}`", hint=meant)


def _parse(path: Path, table: dict[str, Any]) -> _FileContent:
    values = {}
    for key, value in table.items():
        try:
            values[key] = msgspec.convert(value, _TYPES[key])
        except msgspec.ValidationError as error:
            message = f"`{key}` in `{path}` can't be used: {error}"
            raise SettingsError(message, hint=f"it takes {TAKES[key]}") from error
    return _FileContent(**values)


_TYPES: dict[str, Any] = {field.name: field.type for field in msgspec.structs.fields(_FileContent)}


def deployments_in(path: Path, tables: dict[str, dict[str, Any]]) -> dict[str, Deployment]:
    return {name: _deployment(path, name, table) for name, table in tables.items()}


def _deployment(path: Path, name: str, table: dict[str, Any]) -> Deployment:
    where = f"`deployments.{name}` in `{path}`"
    try:
        made = msgspec.convert(table, Deployment)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{where} can't be used: {error}", hint=f"it takes {DEPLOYMENT_EXAMPLE}") from error
    if made.key_name and not _VARIABLE.fullmatch(made.key_name):
        hint = "use the name of an environment variable, never the key itself"
        raise SettingsError(f"{where} has an invalid name of an environment variable", hint=hint)
    if not made.url and not made.store:
        raise SettingsError(f"{where} has neither `url` nor `store`", hint=f"it takes {DEPLOYMENT_EXAMPLE}")
    if made.url:
        refuse_address(made.url, where, key_name=made.key_name)
    store = made.store
    if store and not is_address(store):
        store = str(path.parent / Path(store).expanduser())
    return msgspec.structs.replace(made, url=made.url.rstrip("/"), store=store)
