"""Faults and decoys as data, and which of them rules may be tuned on."""

import tomllib
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import msgspec

from errata.model.words import Owner

HERE = Path(__file__).parent
Part = Literal["tune", "held-out", "fresh", "field"]

HELD_OUT_HARNESSES = ("harbor", "promptfoo")
"""Nothing of these is ever shown for tuning."""
# chosen, before anything was measured, so that each owner has about half of its templates in either part
SALT = "1672"


class Template(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One fault, or the words of one where there is none."""

    name: str
    text: str
    places: tuple[str, ...]
    owner: Owner = "model"
    also: tuple[Owner, ...] = ()
    kind: str = ""
    type: str = ""
    """The exception's class, or what a harness calls the fault."""
    harnesses: tuple[str, ...] = ()
    """Only these; empty for all that have the place."""
    not_in: tuple[str, ...] = ()
    wording: dict[str, str] = {}
    """Harness → its own words."""
    values: dict[str, Any] = {}
    """What a record needs beside a text: the question, what was expected, what was answered."""
    source: str = ""
    words: str = ""
    """Of a decoy: what may mislead."""

    def is_for(self, harness: str) -> bool:
        return harness not in self.not_in and harness in (self.harnesses or (harness,))

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for text in (self.text, *self.wording.values()) if text)

    def worded(self, harness: str) -> "Template":
        """As this harness puts it."""
        return msgspec.structs.replace(self, text=self.wording.get(harness, self.text))


def faults() -> list[Template]:
    return _read("faults.toml", "fault")


def decoys() -> list[Template]:
    return _read("decoys.toml", "decoy")


def fresh_faults() -> list[Template]:
    """Written apart from the rules, by somebody who had not seen them."""
    return _read("fresh_faults.toml", "fault")


def fresh_decoys() -> list[Template]:
    return _read("fresh_decoys.toml", "decoy")


def field_faults() -> list[Template]:
    """The fresh ones, and what only the harnesses of the part `field` say."""
    return [*fresh_faults(), *_read("field_faults.toml", "fault")]


def field_decoys() -> list[Template]:
    return [*fresh_decoys(), *_read("field_decoys.toml", "decoy")]


def part_of(template: str, harness: str) -> Part:
    """By a hash of the template's name; all of a held-out harness is held out."""
    if harness in HELD_OUT_HARNESSES:
        return "held-out"
    return "held-out" if blake2b(f"{SALT}:{template}".encode(), digest_size=1).digest()[0] % 2 else "tune"


@cache
def _read(file: str, table: str) -> list[Template]:
    tables = tomllib.loads((HERE / file).read_text(encoding="utf-8"))[table]
    return msgspec.convert(tables, list[Template])
