"""Write skills where a coding agent looks for them, see whether they are out of date, and remove them.

Each installed file has a mark in its front matter: the version of errata, and the hash of the text without the mark. So
a file that somebody edited is recognised, and never overwritten or removed without `force`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from errata import __version__
from errata.errors import ErrataError
from errata.model.output.skill import InstalledSkillOutput, SkillChange, SkillChangeOutput, SkillState
from errata.render.files import own_folder, write_file
from errata.skills import Skill, all_skills, hash_of, skill_named
from errata.text.lazy_regex import lazy_regex

FILE = "SKILL.md"
_MARK = lazy_regex(
    r'^metadata:\n  errata-version: "(?P<version>[^"\n]*)"\n  errata-sha256: "(?P<sha256>[0-9a-f]{64})"\n', re.MULTILINE
)


class CodingAgent(msgspec.Struct, frozen=True, kw_only=True):
    """Where a coding agent looks for skills."""

    project: str
    """Below the folder of a project."""
    user: str
    """Below the home folder."""
    signs: tuple[str, ...] = ()
    """Folders of a project that show that the agent is used there."""


AGENTS: dict[str, CodingAgent] = {
    "agents": CodingAgent(project=".agents/skills", user=".agents/skills", signs=(".agents",)),
    "claude": CodingAgent(project=".claude/skills", user=".claude/skills", signs=(".claude",)),
    "codex": CodingAgent(project=".agents/skills", user=".agents/skills", signs=(".codex",)),
    "copilot": CodingAgent(project=".github/skills", user=".copilot/skills", signs=(".github/skills",)),
    "cursor": CodingAgent(project=".cursor/skills", user=".cursor/skills", signs=(".cursor",)),
    "gemini": CodingAgent(project=".gemini/skills", user=".gemini/skills", signs=(".gemini",)),
}
"""`agents` is the folder that Codex, Cursor, Copilot, Gemini CLI and others share."""


def skill_folders(agents: Sequence[str], *, project: Path, home: Path, user: bool = False) -> list[Path]:
    """Of the agents that are named, else of those whose folders are there, else the one that most agents share."""
    base = home if user else project
    names = agents or [name for name, one in AGENTS.items() if any((base / sign).is_dir() for sign in one.signs)]
    chosen = [AGENTS[name] for name in names or ["agents"]]
    folders = [base / place for place in dict.fromkeys(one.user if user else one.project for one in chosen)]
    return folders if user else [own_folder(folder, base) for folder in folders]


def install_skills(names: Iterable[str], folder: Path, *, force: bool = False) -> Iterator[SkillChangeOutput]:
    """Those that are named, or all."""
    for skill in _chosen(names):
        before = _installed(skill, folder)
        change: SkillChange = "unchanged"
        if before.state in ("edited", "foreign") and not force:
            change = "kept"
        elif before.state != "current" or before.version != __version__:
            change = "new" if before.state == "missing" else "updated"
            write_file(folder / skill.name, FILE, marked(skill))
        yield _changed(_installed(skill, folder), change)


def check_skills(names: Iterable[str], folder: Path) -> list[InstalledSkillOutput]:
    return [_installed(skill, folder) for skill in _chosen(names)]


def remove_skills(names: Iterable[str], folder: Path, *, force: bool = False) -> Iterator[SkillChangeOutput]:
    """Those that are there. A folder with other files in it stays."""
    for skill in _chosen(names):
        before = _installed(skill, folder)
        if before.state == "missing":
            continue
        kept = before.state in ("edited", "foreign") and not force
        if not kept:
            _remove(folder / skill.name / FILE)
        yield _changed(_installed(skill, folder), "kept" if kept else "removed")


def marked(skill: Skill) -> str:
    """The text with the mark as the last lines of its front matter."""
    head, end, rest = skill.text.partition("\n---\n")
    mark = f'metadata:\n  errata-version: "{__version__}"\n  errata-sha256: "{skill.sha256}"'
    return f"{head}\n{mark}{end}{rest}"


def _chosen(names: Iterable[str]) -> list[Skill]:
    return [skill_named(name) for name in names] or list(all_skills())


def _installed(skill: Skill, folder: Path) -> InstalledSkillOutput:
    path = folder / skill.name / FILE
    try:
        text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
    except (FileNotFoundError, NotADirectoryError):
        return InstalledSkillOutput(skill=skill.name, path=str(path), state="missing", version=None)
    except OSError as error:
        raise ErrataError(f"`{path}` can't be read: {error.strerror}", hint="check its permissions") from error
    mark = _MARK.search(text)
    version = mark["version"] if mark else None
    return InstalledSkillOutput(skill=skill.name, path=str(path), state=_state(skill, text, mark), version=version)


def _state(skill: Skill, text: str, mark: re.Match[str] | None) -> SkillState:
    if mark is None:
        return "foreign"
    if hash_of(text[: mark.start()] + text[mark.end() :]) != mark["sha256"]:
        return "edited"
    return "current" if mark["sha256"] == skill.sha256 else "outdated"


def _changed(installed: InstalledSkillOutput, change: SkillChange) -> SkillChangeOutput:
    fields: dict[str, Any] = msgspec.structs.asdict(installed)
    return SkillChangeOutput(**fields, change=change)


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise ErrataError(f"`{path}` can't be removed: {error.strerror}", hint="check its permissions") from error
    with suppress(OSError):
        path.parent.rmdir()
