"""The skills for coding agents: their texts are data in `texts/`, what they share is in `parts/`.

A skill is a folder with a `SKILL.md`: YAML front matter with name and description, then instructions
(https://agentskills.io/specification).
"""

import hashlib
import re
from functools import cache
from pathlib import Path

from errata.errors import NotFoundError, did_you_mean
from errata.model.record import Struct
from errata.text.lazy_regex import lazy_regex

_PART = lazy_regex(r"^\{\{(\w+)\}\}$", re.MULTILINE)
_HEAD = lazy_regex(r'---\nname: (?P<name>[a-z0-9-]+)\ndescription: "(?P<description>[^"\n]+)"\n.*?^---\n', re.S | re.M)


class Skill(Struct):
    name: str
    description: str
    text: str
    """The whole file, without the mark that `install` adds."""

    @property
    def instructions(self) -> str:
        """The text without its front matter."""
        head = _HEAD.match(self.text)
        return self.text[head.end() :].lstrip("\n") if head else self.text

    @property
    def sha256(self) -> str:
        return hash_of(self.text)


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


@cache
def all_skills() -> tuple[Skill, ...]:
    """In the order of their names."""
    return tuple(_skill(path) for path in sorted((_folder() / "texts").glob("*.md")))


def skill_named(name: str) -> Skill:
    """With or without `errata-` before it."""
    known = {skill.name: skill for skill in all_skills()}
    for meant in (name, f"errata-{name}"):
        if meant in known:
            return known[meant]
    hint = did_you_mean(name, known) or f"one of: {', '.join(known)}"
    raise NotFoundError(f"No skill is named `{name}`", hint=hint)


def _skill(path: Path) -> Skill:
    text = _with_parts(path.read_text(encoding="utf-8"))
    head = _HEAD.match(text)
    assert head is not None and head["name"] == path.stem, path
    return Skill(name=head["name"], description=head["description"], text=text)


def _with_parts(text: str) -> str:
    """`{{review}}` on a line of its own becomes the text of `parts/review.md`, which may have parts, too."""

    def part(match: re.Match[str]) -> str:
        return _with_parts((_folder() / "parts" / f"{match[1]}.md").read_text(encoding="utf-8")).rstrip("\n")

    return _PART.sub(part, text)


def _folder() -> Path:
    return Path(__file__).parent
