"""`errata trust`."""

import os
from pathlib import Path
from typing import Literal

import click
from msgspec import UNSET

from errata.cli.output import plural, put, put_json, say, value_of
from errata.errors import NotFoundError, SettingsError
from errata.model.output.store import TrustedFileOutput, TrustOutput
from errata.settings.files import PROJECT_FILE, content_of, project_file, table_of
from errata.settings.trust import end_trust, guarded_in, hash_of, keep_trust, trusted_files

IN_WORDS = {
    "trusted": "trusted",
    "removed": "no longer trusted",
    "changed": "changed since, no longer trusted",
    "gone": "missing",
}


@click.command("trust")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--list", "listing", is_flag=True, help="List trusted files.")
@click.option("--remove", is_flag=True, help="Stop trusting FILE.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one object, or one per line for lists.")
def command(file: Path | None, listing: bool, remove: bool, as_json: bool) -> None:
    """Allow a project's `errata.toml` to set reviewers, API addresses and keys.

    FILE defaults to the nearest `errata.toml`. Read it first: its settings can run programs and send data elsewhere.
    Trust covers the current content only; trust a changed file again.
    """
    if listing:
        _list(as_json=as_json)
    elif remove:
        path = _file_to_trust(file)
        if not end_trust(path, os.environ):
            raise NotFoundError(f"`{path}` is not trusted", hint="`errata trust --list` lists trusted files")
        _show_state(path, "removed", as_json=as_json)
    else:
        path = _file_to_trust(file)
        content = content_of(path)
        takes = guarded_in(table_of(path, content))
        keep_trust(path, content, os.environ)
        _show_state(path, "trusted", takes, as_json=as_json)


def _file_to_trust(file: Path | None) -> Path:
    path = project_file(Path.cwd()) if file is None else file / PROJECT_FILE if file.is_dir() else file
    if path is None:
        raise NotFoundError(f"There is no `{PROJECT_FILE}` here or above", hint="name one: `errata trust FILE`")
    if path.name != PROJECT_FILE:
        raise SettingsError(f"`{path}` is not read by errata", hint=f"project settings belong in `{PROJECT_FILE}`")
    return path.absolute()


def _show_state(
    path: Path,
    state: Literal["trusted", "removed"],
    takes: list[tuple[str, object]] | None = None,
    *,
    as_json: bool,
) -> None:
    if as_json:
        put_json(TrustOutput(file=str(path.resolve()), state=state, takes=UNSET if takes is None else dict(takes)))
        return
    put(f"{path}   {IN_WORDS[state]}")
    for name, value in takes or ():
        put(f"  {name} = {value_of(value)}")
    if takes == []:
        say("it sets no reviewer, address or key, so there was nothing to trust")


def _list(*, as_json: bool) -> None:
    known = trusted_files(os.environ)
    for name, trusted in sorted(known.items()):
        if as_json:
            put_json(TrustedFileOutput(file=name, sha256=trusted, state=_state(Path(name), trusted)))
        else:
            put(f"{name}   {IN_WORDS[_state(Path(name), trusted)]}")
    if not as_json:
        say(f"{plural(len(known), 'file')} trusted")


def _state(path: Path, trusted: str) -> Literal["trusted", "changed", "gone"]:
    try:
        return "trusted" if hash_of(path.read_bytes()) == trusted else "changed"
    except OSError:
        return "gone"
