"""Paths: the user's own folders (XDG), and the files that a settings file may name, all of them below it."""

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path, PurePath

from errata.errors import SettingsError

MOST_FILES = 500
LARGEST = 1024 * 1024


def bytes_of(path: Path) -> bytes:
    """The content of a settings file, or of a file that it names."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise SettingsError(
            f"`{path}` can't be read: {error.strerror}", hint="fix its permissions, or move it"
        ) from error
    if len(content) > LARGEST:
        raise SettingsError(f"`{path}` is larger than {LARGEST:,} bytes", hint="settings should be a few lines of TOML")
    return content


def files_below(file: Path, key: str, patterns: Iterable[str]) -> tuple[Path, ...]:
    """Every file that matches a pattern, each once, in the order of the patterns and then by name."""
    files: dict[Path, None] = {}
    for pattern in patterns:
        _refuse_outside(file, key, pattern)
        if "**" in pattern:
            raise SettingsError(
                f"`{pattern}` of `{key}` in `{file}` searches all folders below it",
                hint="name each folder: `rules/*.toml`",
            )
        matches = sorted(path for path in islice(file.parent.glob(pattern), MOST_FILES + 1) if path.is_file())
        if not matches or len(matches) > MOST_FILES:
            what = "matches no file" if not matches else f"matches more than {MOST_FILES} files"
            raise SettingsError(
                f"`{pattern}` of `{key}` in `{file}` {what}",
                hint=f"paths are relative to `{file.parent}`; `*` matches any name",
            )
        files |= {_inside(file, key, path): None for path in matches}
    return tuple(files)


def path_below(file: Path, key: str, named: str) -> Path:
    """A path that need not exist yet."""
    _refuse_outside(file, key, named)
    return _inside(file, key, file.parent / named)


def _refuse_outside(file: Path, key: str, named: str) -> None:
    path = PurePath(named)
    if not named.strip() or "\0" in named or path.is_absolute() or named.startswith("~") or ".." in path.parts:
        raise SettingsError(
            f"`{named}` of `{key}` in `{file}` is not a path below that file",
            hint=f"give it relative to `{file.parent}`, without `..`",
        )


def _inside(file: Path, key: str, path: Path) -> Path:
    if not path.resolve().is_relative_to(file.parent.resolve()):
        raise SettingsError(
            f"`{path}` of `{key}` in `{file}` is a link that leads out of `{file.parent}`",
            hint="copy the target instead",
        )
    return path


NAME = "errata"


def config_home(environ: Mapping[str, str]) -> Path | None:
    return _home(environ, "XDG_CONFIG_HOME", ".config")


def state_home(environ: Mapping[str, str]) -> Path | None:
    return _home(environ, "XDG_STATE_HOME", ".local/state")


def cache_home(environ: Mapping[str, str]) -> Path | None:
    return _home(environ, "XDG_CACHE_HOME", ".cache")


def _home(environ: Mapping[str, str], variable: str, usual: str) -> Path | None:
    """None without a home folder; a relative path is ignored, as the XDG specification demands."""
    named = Path(environ.get(variable) or "")
    if named.is_absolute():
        return named / NAME
    home = Path(environ.get("HOME") or "")
    return home / usual / NAME if home.is_absolute() else None
