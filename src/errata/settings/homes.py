"""Where a user's own files lie, by the XDG base directories."""

from collections.abc import Mapping
from pathlib import Path

NAME = "errata"


def config_home(environ: Mapping[str, str]) -> Path | None:
    return _home(environ, "XDG_CONFIG_HOME", ".config")


def state_home(environ: Mapping[str, str]) -> Path | None:
    return _home(environ, "XDG_STATE_HOME", ".local/state")


def _home(environ: Mapping[str, str], variable: str, usual: str) -> Path | None:
    """None where nobody is at home; a relative path is ignored, as the specification says."""
    named = Path(environ.get(variable) or "")
    if named.is_absolute():
        return named / NAME
    home = Path(environ.get("HOME") or "")
    return home / usual / NAME if home.is_absolute() else None
