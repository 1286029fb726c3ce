"""Deployments by name: their address, and which environment variable holds the key for this host alone."""

import re
from pathlib import Path
from typing import Any

import msgspec

from errata.errors import SettingsError
from errata.settings.reviewers import refuse_address

EXAMPLE = '`[deployments.staging]` with `url = "https://NAME.convex.cloud"` and, if need be, `key_name = "VARIABLE"`'
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


class Deployment(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key itself is never written here: `key_name` says which environment variable holds it."""

    url: str
    key_name: str = ""


def deployments_in(path: Path, tables: dict[str, dict[str, Any]]) -> dict[str, Deployment]:
    return {name: _deployment(path, name, table) for name, table in tables.items()}


def _deployment(path: Path, name: str, table: dict[str, Any]) -> Deployment:
    where = f"`deployments.{name}` in `{path}`"
    try:
        made = msgspec.convert(table, Deployment)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{where} can't be used: {error}", hint=f"it takes {EXAMPLE}") from error
    if made.key_name and not _VARIABLE.fullmatch(made.key_name):
        hint = "the name alone of an environment variable; never the key itself"
        raise SettingsError(f"{where} names an environment variable that can't be one", hint=hint)
    refuse_address(made.url, where, key_name=made.key_name)
    return msgspec.structs.replace(made, url=made.url.rstrip("/"))
