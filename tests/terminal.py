"""Commands run as a user runs them: in this process, or as the installed program."""

import io
import os
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata.cli.door import run
from errata.verbs.store import bundled_example

FIXTURES = Path(__file__).parent / "fixtures" / "sources"
PROGRAM = Path(sys.executable).with_name("errata")


class Said(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def talk(self) -> str:
        """What was said on stderr, on one line: where it was folded depends on how long a path is."""
        return " ".join(self.err.split())

    @property
    def rows(self) -> list[Any]:
        """What `--json` printed, line by line."""
        return [msgspec.json.decode(line) for line in self.out.splitlines()]

    @property
    def row(self) -> Any:
        (only,) = self.rows
        return only


def example_without_assertions(folder: Path) -> Path:
    """A copy of the bundled example: three of its failures have one key, that tests failed."""
    shutil.copytree(bundled_example(), folder)
    for file in folder.rglob("*.json"):
        text = re.sub(r"\\n\[vitest\] AssertionError[^\\]*", "", file.read_text(encoding="utf-8"))
        file.write_text(text, encoding="utf-8")
    return folder


def errata(*arguments: object) -> Said:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    return Said(code, out.getvalue(), err.getvalue())


def done(*arguments: object) -> Said:
    """A command that has to succeed."""
    result = errata(*arguments)
    assert result.code == 0, result
    return result


def import_fixtures(*paths: Path, store: str | Path = "", grouped: bool = False) -> None:
    """Import into a store, by default that of the working folder. Only the first test waits for it, later ones copy.

    `grouped`: failures are grouped into causes, too, as the first command that lists them does.
    """
    option = ("--store", store) if store else ()
    store = Path(store or ".errata/errata.db")
    as_usual = not any(Path(own).exists() for own in (store, "errata.toml", "config"))
    key = (*paths, grouped)
    if as_usual and key in _IMPORTED:
        store.parent.mkdir(mode=0o700, exist_ok=True)
        store.write_bytes(_IMPORTED[key])
        return
    done("import", *paths, *option)
    if grouped:
        done("buckets", "list", *option)
    if as_usual:
        _IMPORTED[key] = store.read_bytes()


_IMPORTED: dict[tuple[Path | bool, ...], bytes] = {}


def errata_program(*arguments: object, **environment: str) -> Said:
    command = [str(PROGRAM), *(str(argument) for argument in arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, check=False)
    return Said(ended.returncode, ended.stdout, ended.stderr)
