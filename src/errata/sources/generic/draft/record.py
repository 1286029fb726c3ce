"""A drafted mapping: its keys in order, what is uncertain about them, and its text as TOML."""

import json
import tomllib
from dataclasses import dataclass, field
from typing import Any

import msgspec

from errata.model.output.mapping import MappingDoubt
from errata.sources.generic.mapping import AttemptMap, CaseMap, Mapping, RunMap, completed
from errata.text.clean import clean

SECTIONS = ("", "run", "run.variant", "case", "attempt", "checks", "status_words")
BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
WIDTH = 98
LISTED = 60


_ORDER = {
    f"{section}.{key}": at
    for section, kind in (("", Mapping), ("run", RunMap), ("case", CaseMap), ("attempt", AttemptMap))
    for at, key in enumerate(kind.__struct_fields__)
}


@dataclass
class DraftedMapping:
    keys: dict[tuple[str, str], Any] = field(default_factory=dict)
    """Section and key → value."""
    doubts: list[MappingDoubt] = field(default_factory=list)
    unmapped: list[str] = field(default_factory=list)
    """Columns that no key names."""
    unmapped_outer: list[str] = field(default_factory=list)
    """The same around the rows."""

    def put(self, section: str, key: str, value: Any) -> None:
        self.keys[section, key] = value

    def has(self, section: str, key: str) -> bool:
        return (section, key) in self.keys

    def doubt(self, section: str, key: str, why: str, alternatives: list[str] | tuple[str, ...] = ()) -> None:
        value = self.keys.get((section, key))
        chosen = "" if value is None else _toml(value)
        shown = f"[{section}] {key}" if section else key
        self.doubts.append(MappingDoubt(key=shown, chosen=chosen, why=why, alternatives=tuple(alternatives)))

    def columns(self) -> set[str]:
        return {name for (section, _), value in self.keys.items() for name in _names(value, section)}

    @property
    def mapping(self) -> Mapping:
        return completed(msgspec.convert(tomllib.loads(self.text()), type=Mapping))

    def text(self) -> str:
        """The mapping file. Uncertain lines have a comment."""
        by_key: dict[str, list[MappingDoubt]] = {}
        for doubt in self.doubts:
            by_key.setdefault(doubt.key, []).append(doubt)
        lines: list[str] = []
        for section in SECTIONS:
            own = sorted(
                ((key, value) for (of, key), value in self.keys.items() if of == section),
                key=lambda item: _ORDER.get(f"{section}.{item[0]}", 0),
            )
            prefix = f"[{section}] " if section else ""
            missing = [doubt for doubt in self.doubts if not doubt.chosen and _section_of(doubt) == section]
            if not own and not missing:
                continue
            lines += ["", f"[{section}]"] if section else []
            for key, value in own:
                comments = [_comment(doubt) for doubt in by_key.get(f"{prefix}{key}", ()) if doubt.chosen]
                lines += _commented(f"{_key(key)} = {_toml(value)}", comments)
            lines += [
                line for doubt in missing for line in _wrapped(f"{doubt.key.rpartition('] ')[2]}: {_comment(doubt)}")
            ]
        for kind, names in (("kept with each attempt", self.unmapped), ("around the rows", self.unmapped_outer)):
            if names:
                more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
                listed = ", ".join(name or "(no name)" for name in names[:LISTED])
                lines += ["", *_wrapped(f"not mapped, {kind}: {listed}{more}")]
        return "\n".join(lines).strip("\n") + "\n"


def _section_of(doubt: MappingDoubt) -> str:
    return doubt.key[1:].partition("]")[0] if doubt.key.startswith("[") else ""


def _comment(doubt: MappingDoubt) -> str:
    others = f" (or {', '.join(doubt.alternatives)})" if doubt.alternatives else ""
    return " ".join(clean(f"{doubt.why}{others}").split())


def _commented(line: str, comments: list[str]) -> list[str]:
    if not comments:
        return [line]
    comment = "unsure: " + "; ".join(comments)
    if len(line) + len(comment) + 4 <= WIDTH:
        return [f"{line}  # {comment}"]
    return [*_wrapped(comment), line]


def _wrapped(text: str) -> list[str]:
    """A comment in lines of limited width. Text of a log has no line breaks here."""
    lines, words = ["#"], " ".join(text.split()).split(" ")
    for word in words:
        if len(lines[-1]) + len(word) + 1 > WIDTH and lines[-1] != "#":
            lines.append("#")
        lines[-1] += f" {word}"
    return lines


def _key(name: str) -> str:
    return name if name and set(name) <= BARE else json.dumps(name, ensure_ascii=False)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(child)}" for key, child in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _names(value: Any, section: str) -> list[str]:
    """A text in `[run]` and at the top is a constant."""
    if isinstance(value, str):
        return [value] if section in ("case", "attempt", "checks") else []
    if isinstance(value, dict):
        return [child for key, child in value.items() if key in ("column", "explanation") and isinstance(child, str)]
    return []
