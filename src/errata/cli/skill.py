"""`errata skill`: instructions for coding agents."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from errata.cli.lazy import LazyGroup, Table
from errata.cli.options import OneOfMany, Options, Word, shared_options
from errata.cli.output import put, put_json, say
from errata.cli.render.fields import place_of
from errata.model.output.skill import InstalledSkillOutput, SkillState
from errata.skills import all_skills
from errata.skills.install import AGENTS, check_skills, install_skills, remove_skills, skill_folders

SUBCOMMANDS: Table = {
    "install": ("skill:install", "Install skills for a coding agent."),
    "check": ("skill:check", "Check whether installed skills are up to date."),
    "list": ("skill:list_", "List the skills."),
    "rm": ("skill:rm", "Remove installed skills."),
}


@click.group("skill", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli")
def command() -> None:
    """Install instructions for coding agents.

    A skill is a folder with a `SKILL.md` that an agent reads when a task fits: analyse a run, analyse one failure,
    compare models, analyse a batch.
    """


OUT_OF_DATE = 1
MEANS: dict[SkillState, str] = {
    "current": "up to date",
    "outdated": "out of date",
    "edited": "edited after it was installed",
    "foreign": "not installed by errata",
    "missing": "not installed",
}


def place_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the skills and the options that choose their folders, and hands them over as `names` and `folders`."""

    @click.argument("names", nargs=-1, metavar="[SKILL…]")
    @click.option(
        "--agent",
        "agents",
        multiple=True,
        cls=OneOfMany,
        type=Word(tuple(AGENTS)),
        help="Coding agent; repeatable. Default: those whose folders are here, else `agents`, which most of them read.",
    )
    @click.option("--user", is_flag=True, help="For all projects: in your home folder.")
    @click.option("--dir", "place", type=click.Path(path_type=Path, file_okay=False), help="Folder for the skills.")
    @wraps(function)
    def wrapped(*arguments: Any, agents: tuple[str, ...], user: bool, place: Path | None, **named: Any) -> Any:
        folders = [place] if place else skill_folders(agents, project=Path(), home=Path.home(), user=user)
        return function(*arguments, folders=folders, **named)

    return wrapped


@click.command("install")
@place_options
@click.option("--force", is_flag=True, help="Overwrite skills that were edited or come from elsewhere.")
@shared_options
def install(names: tuple[str, ...], folders: list[Path], force: bool, options: Options) -> None:
    """Install skills for a coding agent.

    Writes a folder with a `SKILL.md` for each skill, by default for all. A skill that you edited is left as it is.
    """
    changes = [change for folder in folders for change in install_skills(names, folder, force=force)]
    for change in changes:
        if options.json:
            put_json(change)
        else:
            put(f"{change.change:<9}  {place_of(change.path)}", hang=11)
    kept = [change for change in changes if change.change == "kept"]
    if kept and not options.json:
        say(f"kept: {MEANS[kept[0].state]}; `--force` overwrites")


@click.command("check")
@place_options
@shared_options
def check(names: tuple[str, ...], folders: list[Path], options: Options) -> int:
    """Check whether installed skills are up to date.

    The exit code is 1 if one is out of date or not installed.
    """
    checked = [one for folder in folders for one in check_skills(names, folder)]
    for skill in checked:
        if options.json:
            put_json(skill)
        else:
            put(f"{_state(skill):<30}  {place_of(skill.path)}", hang=32)
    stale = any(one.state in ("outdated", "missing") for one in checked)
    if stale and not options.json:
        say("`errata skill install` updates and installs them")
    return OUT_OF_DATE if stale else 0


def _state(installed: InstalledSkillOutput) -> str:
    version = f" (errata {installed.version})" if installed.state == "outdated" else ""
    return f"{MEANS[installed.state]}{version}"


@click.command("list")
@shared_options
def list_(options: Options) -> None:
    """List the skills."""
    from errata.model.output.skill import SkillOutput

    if options.json:
        for skill in all_skills():
            put_json(SkillOutput(skill=skill.name, description=skill.description, sha256=skill.sha256))
    else:
        for skill in all_skills():
            put(skill.name)
            put(f"  {skill.description}", hang=2)


@click.command("rm")
@place_options
@click.option("--force", is_flag=True, help="Also remove skills that were edited or come from elsewhere.")
@shared_options
def rm(names: tuple[str, ...], folders: list[Path], force: bool, options: Options) -> None:
    """Remove installed skills.

    A skill that you edited stays, unless you add --force.
    """
    changes = [change for folder in folders for change in remove_skills(names, folder, force=force)]
    for change in changes:
        if options.json:
            put_json(change)
        else:
            put(f"{change.change:<9}  {place_of(change.path)}", hang=11)
    if not changes and not options.json:
        say("no skill of errata is installed there")
