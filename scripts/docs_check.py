"""Generated parts of the documents: docs/commands.md, tables in docs/sources.md and docs/review.md, and marked output.

`python scripts/docs_check.py` rewrites them; `--check` exits 1 if one is stale.

A console block below `<!-- output -->` shows real output. `<!-- output after import PATH; triage latest -->` runs these
commands first, without showing them. All blocks of a page share one store, and run in the root of the repository, or in
a copy of a folder that the first marker names: `<!-- output in tests/fixtures/actions after import $ROOT/PATH -->`.
"""

import argparse
import inspect
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click

from errata import sources
from errata.cli.app import app
from errata.server.pages.review_keys import KEYS, cap_of

ROOT = Path(__file__).parent.parent
COMMANDS_PAGE = ROOT / "docs" / "commands.md"
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
SOURCES_PAGE = ROOT / "docs" / "sources.md"
REVIEW_PAGE = ROOT / "docs" / "review.md"

INTRO = """\
# Commands

`python scripts/docs_check.py` writes this page from the commands themselves; `errata COMMAND --help` shows the same.

## Shared by all commands

**PATHS** are files and folders. They are recognised by content; a folder that is not itself a run is searched for runs,
eight levels deep. [Supported formats](sources.md) lists what errata reads.

**RUN** is one of

- a path, which is imported first
- `latest`: the run that was imported last
- the run's native id, its name, its id, or the first characters of either id (3 or more)
- the name of a model, if it has only one run
- the part after the last `_` of its native id, as in conversation-bench's `20260301T100000_voice-alpha_1a2b3c4d`

If several runs match, errata lists them and stops. `errata rm` and `errata exclude` never import: for them, a path
means the run that was read from there.

**Output.** Data goes to stdout, messages to stderr. With `--json` stdout holds one JSON object, or one per line for
lists. Text from logs is cleaned of control and bidi characters, and secrets are replaced by `[redacted:…]`.

**The store** is the file or the [PostgreSQL address](store.md#a-store-in-postgresql) in `--store`, else in
`ERRATA_STORE`, else the nearest `.errata/errata.db` from the working folder upward, else a new one in the working
folder ([Store](store.md)). `ERRATA_AUTHOR` is the author of your verdicts and changes; default: your user name.
"""

EXIT_CODES = """\
**Exit codes**: see [Scripts](automate.md#exit-codes). Unreadable items in a readable log are counted and shown; the
exit code stays 0. If nothing could be read, it is 2.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only list what is stale")
    checking = parser.parse_args().check
    stale = [(page, text) for page, text in generated() if page.read_text(encoding="utf-8") != text]
    for page, text in stale:
        if checking:
            print(f"{page.relative_to(ROOT)} is stale: run `python scripts/docs_check.py`")
        else:
            page.write_text(text, encoding="utf-8")
    untold = untold_sources()
    for name in untold:
        print(f"source `{name}`: docs/sources.md has no section that ends with its name, or its TITLE no colon")
    return 1 if checking and (stale or untold) else 0


def generated() -> Iterator[tuple[Path, str]]:
    """Each page with generated parts, and what should be in it."""
    yield COMMANDS_PAGE, commands_page()
    yield from pages_with_current_output().items()
    yield SOURCES_PAGE, with_sources(SOURCES_PAGE.read_text(encoding="utf-8"))
    yield REVIEW_PAGE, with_keys(REVIEW_PAGE.read_text(encoding="utf-8"))


def commands() -> dict[str, click.Command]:
    """Those that do something, by their full names: a group is only the sum of its commands."""
    return dict(_leaves(app, ""))


def _leaves(group: click.Group, before: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group, info_name="errata")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _leaves(command, f"{before}{name} ")
        elif command is not None:
            yield f"{before}{name}", command


def commands_page() -> str:
    all_of_them = commands()
    options = {name: [_option(one) for one in _options(command)] for name, command in all_of_them.items()}
    shared = [line for line in options["runs"] if line.startswith(("- `--store", "- `--json"))]
    without = [f"`{name}`" for name, lines in options.items() if not set(shared) <= set(lines)]
    parts = [
        INTRO,
        f"All commands except {', '.join(without[:-1])} and {without[-1]} take:\n",
        "".join(shared),
        EXIT_CODES,
    ]
    for name, command in all_of_them.items():
        parts += [f"## errata {name}\n", _usage(name, command), f"{_help(command)}\n"]
        own = [line for line in options[name] if name in without or line not in shared]
        parts += ["".join(own)] if own else []
    return "\n".join(parts)


def pages_with_current_output() -> dict[Path, str]:
    """Each page with marked console blocks, and its text with what their commands print today."""
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES}
    blocks = {page: found for page, text in texts.items() if (found := list(_CONSOLE.finditer(text)))}
    outputs = run_blocks(list(blocks.values()))
    return {page: _replaced(texts[page], blocks[page], output) for page, output in zip(blocks, outputs, strict=True)}


_CONSOLE = re.compile(
    r"(?P<marker><!-- output(?: in (?P<folder>\S+))?(?: after (?P<before>[^>]+))? -->\n\n?)"
    r"```console\n(?P<shown>\$ errata .*?)```",
    re.DOTALL,
)


def _setup_commands(block: re.Match[str]) -> list[str]:
    return [part.strip() for part in (block["before"] or "").split(";") if part.strip()]


def _visible_commands(block: re.Match[str]) -> list[str]:
    return [line.removeprefix("$ errata ") for line in block["shown"].splitlines() if line.startswith("$ errata ")]


def _replaced(text: str, blocks: list[re.Match[str]], outputs: list[str]) -> str:
    output = iter(outputs)
    for block in blocks:
        for _ in _setup_commands(block):
            next(output)
        shown = "\n".join(f"$ errata {line}\n{_head(next(output), line)}" for line in _visible_commands(block))
        text = text.replace(block[0], f"{block['marker']}```console\n{shown}```", 1)
    return text


def _head(output: str, line: str) -> str:
    """The output as far as `| head -N` shows it."""
    limit = line.partition(_HEAD)[2]
    return "".join(output.splitlines(keepends=True)[: int(limit or sys.maxsize)])


_HEAD = " | head -"
_RUN_EACH = """\
import contextlib, io, json, os, sys
from errata.cli.door import run
for folder, store, commands in json.load(sys.stdin):
    os.chdir(folder)
    os.environ["ERRATA_STORE"] = store
    outputs = []
    for arguments in commands:
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            run(arguments)
        outputs.append(output.getvalue())
    print(json.dumps(outputs))
"""


def run_blocks(pages: list[list[re.Match[str]]]) -> list[list[str]]:
    """What each command of each page prints; one process for all of them, one store for each page."""
    with tempfile.TemporaryDirectory(prefix="errata-docs-") as scratch:
        jobs = [_job(blocks, Path(scratch) / str(number)) for number, blocks in enumerate(pages)]
        process = subprocess.run(
            [sys.executable, "-c", _RUN_EACH],
            input=json.dumps(jobs),
            env={**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": str(ROOT / "src")},
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=True,
        )
    return [json.loads(line) for line in process.stdout.splitlines()]


def _job(blocks: list[re.Match[str]], scratch: Path) -> tuple[str, str, list[list[str]]]:
    """The folder to work in, the store, and the commands with their arguments."""
    lines = [
        line.partition(_HEAD)[0] for block in blocks for line in (*_setup_commands(block), *_visible_commands(block))
    ]
    commands = [shlex.split(line.replace("$ROOT", str(ROOT))) for line in lines]
    folder = next((block["folder"] for block in blocks if block["folder"]), "")
    if not folder:
        return str(ROOT), str(scratch.with_suffix(".db")), commands
    shutil.copytree(ROOT / folder, scratch)
    return str(scratch), ".errata/errata.db", commands


def with_sources(text: str) -> str:
    """The text with a row for each built-in source: its name, what it reads, and a link to its section."""
    head = "| you have | point errata at | named |\n|---|---|---|\n"
    rows = [_source(name, sources.all_sources()[name].TITLE) for name in sources.BUILT_IN]
    return _SOURCES.sub(lambda found: f"{found[1]}{head}{''.join(rows)}{found[2]}", text)


def with_keys(text: str) -> str:
    """The text with the keys of the review page."""
    rows = [f"| {' '.join(f'`{cap_of(cap)}`' for cap in key.keys)} | {key.does} |\n" for key in KEYS]
    table = "".join(("| key | what it does |\n", "|---|---|\n", *rows))
    return _KEYS.sub(lambda found: f"{found[1]}{table}{found[2]}", text)


_KEYS = re.compile(r"(<!-- keys -->\n).*?(<!-- /keys -->)", re.DOTALL)
_SOURCES = re.compile(r"(<!-- sources -->\n).*?(<!-- /sources -->)", re.DOTALL)


def _source(name: str, title: str) -> str:
    """A title is a harness and, after a colon, what of it can be read."""
    harness, _, reads = title.partition(": ")
    heading = _headings().get(name)
    shown = f"[`{name}`](#{_anchor(heading)})" if heading else f"`{name}`"
    return f"| {harness} | {reads} | {shown} |\n"


def untold_sources() -> list[str]:
    """Sources without a section on the page of sources, or without a title that names what is read."""
    headings = _headings()
    return [name for name in sources.BUILT_IN if name not in headings or ": " not in sources.all_sources()[name].TITLE]


def _headings() -> dict[str, str]:
    """Source → the heading of its section, which ends with its name."""
    page = SOURCES_PAGE.read_text(encoding="utf-8")
    return {name: heading for heading, name in re.findall(r"^## (.+\(`(.+)`\))$", page, re.MULTILINE)}


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _usage(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"errata {name}")
    pieces = [piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
    return f"    {' '.join(['errata', name, '[OPTIONS]', *pieces])}\n"


def _help(command: click.Command) -> str:
    """Lines that the terminal shows as they are become a block of code."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return "\n\n".join(
        textwrap.indent(text.removeprefix("\b\n"), "    ") if text.startswith("\b\n") else text for text in paragraphs
    )


def _options(command: click.Command) -> list[click.Option]:
    return [one for one in command.params if isinstance(one, click.Option)]


def _option(option: click.Option) -> str:
    texts = [option.help] if option.help else []
    if isinstance(option.type, click.Choice):
        texts.append(f"One of: {', '.join(option.type.choices)}.")
    # an empty or false default only means that the option is optional
    if isinstance(option.default, str | int | float) and option.default:
        texts.append(f"Default: `{option.default}`.")
    return f"- `{', '.join([*option.opts, *option.secondary_opts])}{_value(option)}` — {' '.join(texts)}\n"


def _value(option: click.Option) -> str:
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice):
        return " WORD"
    if isinstance(option.type, click.IntRange):
        return " NUMBER"
    return f" {option.make_metavar(click.Context(app))}"


if __name__ == "__main__":
    sys.exit(main())
