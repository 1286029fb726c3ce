"""Configuration from flags and environment, as one frozen value."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from errata.errors import SettingsError

STORE_FOLDER = ".errata"
STORE_FILE = "errata.db"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    store: Path
    author: str = ""


def load_settings(*, store: str = "", environ: Mapping[str, str] = os.environ, cwd: Path | None = None) -> Settings:
    """A flag wins over the environment, which wins over what is found from the working folder upward."""
    named = store or environ.get("ERRATA_STORE", "")
    if "://" in named:
        raise SettingsError(
            f"This errata keeps its store in a SQLite file, not at a `{named.split('://')[0]}` address",
            hint="name a file with `--store FILE` or `ERRATA_STORE`",
        )
    author = environ.get("ERRATA_AUTHOR") or environ.get("USER") or environ.get("LOGNAME") or ""
    path = Path(named).expanduser() if named else find_store(cwd or Path.cwd())
    return Settings(store=path, author=author)


def find_store(folder: Path) -> Path:
    """The nearest store from a folder upward, like `.git`; else where a new one would lie."""
    for place in (folder, *folder.parents):
        candidate = place / STORE_FOLDER / STORE_FILE
        if candidate.is_file():
            return candidate
    return folder / STORE_FOLDER / STORE_FILE
