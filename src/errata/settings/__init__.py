"""Configuration from flags, environment and files, as one frozen value."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from errata.errors import SettingsError
from errata.settings.files import Deployment, project_settings, user_settings
from errata.settings.reviewers import ReviewerSettings

STORE_FOLDER = ".errata"
STORE_FILE = "errata.db"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    store: Path
    author: str = ""
    rule_files: tuple[Path, ...] = ()
    """Rules besides the built-in ones; a later rule replaces an earlier one of the same name."""
    taxonomy_files: tuple[Path, ...] = ()
    timeouts: Literal["count", "drop"] = "count"
    """How the `clean` and `reviewed` scores treat attempts that timed out."""
    reviewers: dict[str, ReviewerSettings] = {}
    deployments: dict[str, Deployment] = {}


def load_settings(*, store: str = "", environ: Mapping[str, str] = os.environ, cwd: Path | None = None) -> Settings:
    """Precedence: flag, environment, project file, user file."""
    folder = cwd or Path.cwd()
    own, project = user_settings(environ), project_settings(folder, environ)
    author = environ.get("ERRATA_AUTHOR") or environ.get("USER") or environ.get("LOGNAME") or ""
    named = store or environ.get("ERRATA_STORE", "")
    return Settings(
        store=_path_of(named) if named else project.store or _found_store(folder) or own.store or _new_store(folder),
        author=author,
        rule_files=own.rules + project.rules,
        taxonomy_files=own.taxonomies + project.taxonomies,
        timeouts=project.timeouts or own.timeouts or "count",
        reviewers=own.reviewers | project.reviewers,
        deployments=own.deployments | project.deployments,
    )


def find_store(folder: Path) -> Path:
    """The nearest store from a folder upward, like `.git`; otherwise the place for a new one."""
    return _found_store(folder) or _new_store(folder)


def _found_store(folder: Path) -> Path | None:
    places = (place / STORE_FOLDER / STORE_FILE for place in (folder, *folder.parents))
    return next((place for place in places if place.is_file()), None)


def _new_store(folder: Path) -> Path:
    return folder / STORE_FOLDER / STORE_FILE


def _path_of(named: str) -> Path:
    if "://" in named:
        raise SettingsError(
            f"This errata keeps its store in a SQLite file, not at a `{named.split('://')[0]}` address",
            hint="give a file with `--store FILE` or `ERRATA_STORE`",
        )
    return Path(named).expanduser()
