"""Quotes that are in a log letter by letter and say something else than the log: made from `cuts.toml`."""

import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FRESH = Path(__file__).with_name("fresh.toml")
CUTS = Path(__file__).with_name("cuts.toml")
OPENINGS = ("", "", "[error] ", "2026-11-17 12:03:44 WARN ", "- ", "  ", "judge: ")
BEFORE = ("", "the run started\n", "[ok] install\n[ok] build\n\n", "step 1 of the plan is done.\n")
AFTER = ("", "\n", "\nthe run ended\n", "\n\n[cmd] next step\n[ok] next step\n")
WITHOUT_OPENING = ("code", "elision", "fresh")
STOPS = {"Chinese": "。", "Japanese": "。", "Hindi": "।"}
_MARKED = re.compile("⟦([^⟧]*)⟧", re.DOTALL)


class Case(NamedTuple):
    language: str
    form: str
    text: str
    """The place."""
    quote: str


def misleading(count: int, seed: int) -> list[Case]:
    """The passages in turn, each with other numbers and surroundings; no case twice."""
    chance = random.Random(seed)
    passages = list(_passages())
    cases: dict[Case, None] = {}
    while len(cases) < count:
        chance.shuffle(passages)
        for language, form, passage in passages:
            cases.setdefault(_case(language, form, passage, chance))
    return list(cases)[:count]


def fresh() -> list[Case]:
    passages = tomllib.loads(FRESH.read_text(encoding="utf-8"))["passages"]
    return [_case("fresh", "fresh", passage, random.Random(0)) for passage in passages]


def _passages() -> Iterator[tuple[str, str, str]]:
    for language, forms in tomllib.loads(CUTS.read_text(encoding="utf-8")).items():
        for form, passages in forms.items():
            yield from ((language, form, passage) for passage in passages)


def _case(language: str, form: str, passage: str, chance: random.Random) -> Case:
    small = chance.randint(2, 40)
    numbers = {"{a}": small, "{b}": small + chance.randint(1, 57), "{c}": chance.randint(100, 999)}
    for slot, number in numbers.items():
        passage = passage.replace(slot, str(number))
    parts = _MARKED.findall(passage)
    if form == "turned":
        parts.reverse()
    line = passage.replace("⟦", "").replace("⟧", "")
    if form == "open":
        line = line.replace("… ", "").replace(" …", "")
    if language not in WITHOUT_OPENING:
        stop = STOPS.get(language, ".")
        line = chance.choice(OPENINGS) + line + chance.choice(("", "" if line[-1] in "})%" else stop))
    return Case(language, form, chance.choice(BEFORE) + line + chance.choice(AFTER), " … ".join(parts))
