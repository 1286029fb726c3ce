"""`errata trust`."""

import os
from pathlib import Path
from typing import Any, Literal

import click

from errata.cli.output import plural, put, put_json, say, value_of
from errata.errors import NotFoundError, SettingsError
from errata.model.output.store import TrustedFileOutput, TrustOutput
from errata.settings.files import (
    PROJECT_FILE,
    end_trust,
    files_named,
    keep_trust,
    project_file,
    settings_that_need_trust,
    table_of,
    trust_hash,
    trusted_files,
)
from errata.settings.paths import bytes_of

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
    """Allow a project's `errata.toml` to set rules, taxonomies and more.

    FILE defaults to the nearest `errata.toml`. Read it first, and the files it names: they decide who owns a failure
    and what a reviewer is asked, and can run programs. Trust covers the current content of `errata.toml` and of its
    rules and taxonomies; trust changed files again. In CI, set ERRATA_TRUST to the SHA-256 that is printed.
    """
    if listing:
        _list(as_json=as_json)
    elif remove:
        path = _file_to_trust(file)
        if not end_trust(path, os.environ):
            raise NotFoundError(f"`{path}` is not trusted", hint="`errata trust --list` lists trusted files")
        if as_json:
            put_json(TrustOutput(file=str(path.resolve()), state="removed"))
        else:
            put(f"{path}   {IN_WORDS['removed']}")
    else:
        path = _file_to_trust(file)
        content = bytes_of(path)
        table = table_of(path, content)
        sha256 = trust_hash(path, content, table)
        keep_trust(path, sha256, os.environ)
        _show_trusted(path, table, sha256, as_json=as_json)


def _file_to_trust(file: Path | None) -> Path:
    path = project_file(Path.cwd()) if file is None else file / PROJECT_FILE if file.is_dir() else file
    if path is None:
        raise NotFoundError(f"There is no `{PROJECT_FILE}` here or above", hint="name one: `errata trust FILE`")
    if path.name != PROJECT_FILE:
        raise SettingsError(f"`{path}` is not read by errata", hint=f"project settings belong in `{PROJECT_FILE}`")
    if path.is_symlink():
        raise SettingsError(f"`{path}` is a link, which is not followed", hint="copy its target, or remove the link")
    return path.absolute()


def _show_trusted(path: Path, table: dict[str, Any], sha256: str, *, as_json: bool) -> None:
    takes = settings_that_need_trust(table)
    files = [str(file.relative_to(path.parent)) for file in files_named(path, table)]
    if as_json:
        put_json(
            TrustOutput(file=str(path.resolve()), state="trusted", takes=dict(takes), files=tuple(files), sha256=sha256)
        )
        return
    put(f"{path}   {IN_WORDS['trusted']}")
    for name, value in takes:
        put(f"  {name} = {value_of(value)}")
    for file in files:
        put(f"  with {file}")
    put(f"  sha256 {sha256}")
    if not takes:
        say("it sets no rule, taxonomy, reviewer or address, so there was nothing to trust")


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
    if not path.is_file():
        return "gone"
    try:
        content = bytes_of(path)
        return "trusted" if trust_hash(path, content, table_of(path, content)) == trusted else "changed"
    except SettingsError:
        return "changed"
