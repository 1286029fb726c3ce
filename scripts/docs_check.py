"""The generated parts of the documents: docs/commands.md, and in README.md the console output and the table of sources.

`python scripts/docs_check.py` rewrites them; `--check` exits 1 where they are stale.
"""

import argparse
import inspect
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from errata import sources
from errata.cli.app import app

ROOT = Path(__file__).parent.parent
COMMANDS_PAGE = ROOT / "docs" / "commands.md"
README = ROOT / "README.md"
SOURCES_PAGE = "docs/sources.md"

INTRO = """\
# Commands

Written by `python scripts/docs_check.py` from the commands themselves; `errata COMMAND --help` shows the same text.

## What they share

**PATHS** are files and folders. Their format is recognised by content; a folder that is not a run is searched for runs,
eight levels deep. [sources.md](sources.md) lists the formats.

**RUN** is one of

- a path: its runs are imported first
- `latest`: the run that was imported last
- the run's native id, its name, its id, or the beginning of either id (3 characters or more)
- the tail after the last `_` of its native id, as in conversation-bench's `20260301T100000_voice-alpha_1a2b3c4d`

A RUN that matches several runs is refused with a list of them. `errata rm` and `errata exclude` never import: for them
a path names the run that was imported from there.

**Data goes to stdout, talk to stderr.** With `--json` stdout holds one JSON object, or one a line for lists. Text from
logs is cleaned of control and bidi characters, and secrets are replaced by `[redacted:…]`.

**The store** is the file named by `--store`, else by `ERRATA_STORE`, else the nearest `.errata/errata.db` from the
working folder upward, else a new one in the working folder. [store.md](store.md) describes its contents.
`ERRATA_AUTHOR` is the author of reviews and actions; the default is your user name.
"""

EXIT_CODES = """\
## Exit codes

| code | meaning |
|---|---|
| 0 | done |
| 1 | `errata check`: a run is not fit; `errata doctor`: the store is not sound |
| 2 | an error that you can fix: the message names the problem, the hint the solution |
| 3 | a bug in errata; the message names a file with the details |
| 4 | `errata compare`: the runs did not measure the same thing; the message lists the differences |
| 130 | interrupted |

A single unreadable item in a log is not an error: it is counted and shown, and the exit code is 0. Where nothing could
be read at all, the exit code is 2.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say what is stale")
    checking = parser.parse_args().check
    stale = [(page, text) for page, text in generated() if page.read_text(encoding="utf-8") != text]
    for page, text in stale:
        if checking:
            print(f"{page.relative_to(ROOT)} is stale: run `python scripts/docs_check.py`")
        else:
            page.write_text(text, encoding="utf-8")
    untold = untold_sources()
    for name in untold:
        print(f"source `{name}`: {SOURCES_PAGE} has no section that ends with its name, or its TITLE no colon")
    return 1 if checking and (stale or untold) else 0


def generated() -> Iterator[tuple[Path, str]]:
    """Each page with generated parts, and what should be in it."""
    yield COMMANDS_PAGE, commands_page()
    yield README, with_sources(with_console_output(README.read_text(encoding="utf-8")))


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
    option_sets = [{_option(one) for one in _options(command)} for command in all_of_them.values()]
    shared = set.intersection(*(options for options in option_sets if any("`--store" in one for one in options)))
    parts = [INTRO, "Every command that uses the store takes:\n", "".join(sorted(shared)), EXIT_CODES]
    for name, command in all_of_them.items():
        parts += [f"## errata {name}\n", _usage(name, command), f"{inspect.cleandoc(command.help or '')}\n"]
        own = [told for told in map(_option, _options(command)) if told not in shared]
        parts += ["".join(own)] if own else []
    return "\n".join(parts)


def with_console_output(text: str) -> str:
    """The text with what the commands in its console blocks print today; one store for all of them."""
    with tempfile.TemporaryDirectory(prefix="errata-docs-") as folder:
        store = str(Path(folder) / "errata.db")
        return _CONSOLE.sub(lambda found: f"```console\n{_printed(found[1], store)}```", text)


_CONSOLE = re.compile(r"```console\n(\$ errata .*?)```", re.DOTALL)


def _printed(block: str, store: str) -> str:
    """Each line that starts with `$ errata`, and below it what that command prints."""
    lines = [line for line in block.splitlines() if line.startswith("$ errata")]
    return "\n".join(f"{line}\n{_run(line.removeprefix('$ errata '), store)}" for line in lines)


def _run(arguments: str, store: str) -> str:
    program = "from errata.cli.door import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *shlex.split(arguments)],
        cwd=ROOT,
        env={**os.environ, "ERRATA_STORE": store, "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


def with_sources(text: str) -> str:
    """The text with a row for each built-in source: its name, what it reads, and a link."""
    head = "| you have | point errata at | named |\n|---|---|---|\n"
    rows = [_source(name, sources.all_sources()[name].TITLE) for name in sources.BUILT_IN]
    return _SOURCES.sub(lambda found: f"{found[1]}{head}{''.join(rows)}{found[2]}", text)


_SOURCES = re.compile(r"(<!-- sources -->\n).*?(<!-- /sources -->)", re.DOTALL)


def _source(name: str, title: str) -> str:
    """A title is a harness and, after a colon, what of it can be read."""
    harness, _, reads = title.partition(": ")
    heading = _headings().get(name)
    place = f"{SOURCES_PAGE}#{_anchor(heading)}" if heading else SOURCES_PAGE
    return f"| {harness} | {reads} | [`{name}`]({place}) |\n"


def untold_sources() -> list[str]:
    """Sources without a section on the page of sources, or without a title that names what is read."""
    headings = _headings()
    return [name for name in sources.BUILT_IN if name not in headings or ": " not in sources.all_sources()[name].TITLE]


def _headings() -> dict[str, str]:
    """Source → the heading of its section, which ends with its name."""
    page = (ROOT / SOURCES_PAGE).read_text(encoding="utf-8")
    return {name: heading for heading, name in re.findall(r"^## (.+\(`(.+)`\))$", page, re.MULTILINE)}


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _usage(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"errata {name}")
    pieces = [piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
    return f"    {' '.join(['errata', name, '[OPTIONS]', *pieces])}\n"


def _options(command: click.Command) -> list[click.Option]:
    return [one for one in command.params if isinstance(one, click.Option)]


def _option(option: click.Option) -> str:
    texts = [option.help] if option.help else []
    if isinstance(option.type, click.Choice):
        texts.append(f"One of: {', '.join(option.type.choices)}.")
    # an empty or false default only means that the option is optional
    if isinstance(option.default, str | int) and option.default:
        texts.append(f"Default: `{option.default}`.")
    return f"- `{', '.join(option.opts)}{_value(option)}` — {' '.join(texts)}\n"


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
