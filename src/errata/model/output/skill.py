"""What `errata skill … --json` prints."""

from typing import Literal

from errata.model.record import Struct

SkillState = Literal["current", "outdated", "edited", "foreign", "missing"]
"""`edited`: changed after it was installed. `foreign`: a skill of this name that errata did not install."""
SkillChange = Literal["new", "updated", "unchanged", "kept", "removed"]
"""`kept`: edited or foreign, so it was left as it is."""


class SkillOutput(Struct):
    """A skill that errata brings."""

    skill: str
    description: str
    sha256: str
    """Of its text."""


class InstalledSkillOutput(Struct):
    """A skill in a folder of skills."""

    skill: str
    path: str
    """Its `SKILL.md`."""
    state: SkillState
    version: str | None
    """The version of errata that installed it."""


class SkillChangeOutput(InstalledSkillOutput):
    """What was done about it; `state` is the one afterwards."""

    change: SkillChange


SHAPES: dict[str, type] = {
    "skill list": SkillOutput,
    "skill check": InstalledSkillOutput,
    "skill install": SkillChangeOutput,
    "skill rm": SkillChangeOutput,
}
