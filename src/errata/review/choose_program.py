"""A program as the chosen reviewer: under which name its verdicts go, and when it is another one."""

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from errata.errors import SettingsError
from errata.model import Reviewer
from errata.model.identity import fingerprint
from errata.review.chosen import Chosen, Wish, no_price, own_price
from errata.review.limits import Limits
from errata.review.protocols import AsksForVerdicts
from errata.review.reviewers.command import CommandReviewer, command_for
from errata.review.reviewers.opening import ToolsFor
from errata.review.reviewers.presets import PRESETS
from errata.settings.reviewers import ReviewerSettings, located

LARGEST_SCRIPT = 1_000_000
SHOWN = 3
_INTERPRETERS = ("python", "node", "deno", "bun", "ruby", "perl", "bash", "sh", "uv", "npx", "env")


def words_of(command: str) -> tuple[str, ...]:
    """As a shell would take it apart; no shell is started."""
    try:
        return located(tuple(shlex.split(command)), Path.cwd())
    except ValueError as error:
        hint = 'quote it as one word: `--command "prog --flag"`'
        raise SettingsError(f"`--command` can't be read: {error}", hint=hint) from error


def chosen_program(name: str, settings: ReviewerSettings, wish: Wish) -> Chosen:
    if wish.with_tools:
        raise SettingsError("`--with-tools` is for models", hint="a program gets the packet on its standard input")
    preset = command_for(settings.command, passes=settings.passes, allow_tools=wish.allow_tools)
    is_preset = preset.name in PRESETS and preset.argv == PRESETS[preset.name].argv
    version = "" if is_preset and not name else _version_of(preset.argv)
    identity = Reviewer(kind="command", name=name or _called(settings.command), version=version)

    @asynccontextmanager
    async def opened(_limits: Limits, _tools: ToolsFor | None) -> AsyncIterator[AsksForVerdicts]:
        yield CommandReviewer(preset, identity)

    more = " …" if len(preset.argv) > SHOWN else ""
    off = f", without {preset.switched_off}" if preset.switched_off else ""
    return Chosen(
        identity=identity,
        goes_to=f"the program `{shlex.join(preset.argv[:SHOWN])}{more}`{off}",
        open=opened,
        price=own_price(settings) or no_price,
        per_minute=settings.per_minute,
        tokens_per_minute=settings.tokens_per_minute,
    )


def _called(argv: tuple[str, ...]) -> str:
    """By its own name; a script by the script's, not by that of what runs it."""
    program = Path(argv[0]).name
    if not program.startswith(_INTERPRETERS):
        return program
    return next((Path(word).name for word in argv[1:] if Path(word).is_absolute()), program)


def _version_of(argv: tuple[str, ...]) -> str:
    """Other words or another script are another version: what the old one answered is not taken for the new one's."""
    files = [path for path in map(Path, argv) if path.is_absolute() and path.is_file()]
    contents = [path.read_bytes().hex() for path in files if path.stat().st_size <= LARGEST_SCRIPT]
    return fingerprint([word for word in argv if Path(word) not in files], contents, size=4)
