"""The colours and letters of every page. Colour names an owner; besides it there are ink, evidence and focus."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

WHITE, INK = "#ffffff", "#16150f"
Texture = Literal["solid", "hatched", "outline"]


class Shade(NamedTuple):
    light: str
    dark: str


class OwnerLook(NamedTuple):
    letter: str
    colour: Shade
    on_it: Shade
    """The letter on the colour; where the texture is not solid, it has the colour of text."""
    texture: Texture = "solid"


TOKENS: dict[str, Shade] = {
    "bg": Shade("#fafaf8", "#121211"),
    "surface": Shade("#ffffff", "#1a1a18"),
    "sunken": Shade("#f4f3f0", "#222220"),
    "hover": Shade("#f0efeb", "#262623"),
    "line": Shade("#e7e5e0", "#2c2c29"),
    "line-2": Shade("#d2cfc8", "#41403c"),
    "line-3": Shade("#8b887f", "#7d7a72"),
    "text": Shade("#1d1c1a", "#ecebe7"),
    "text-2": Shade("#55524b", "#b8b5ad"),
    "text-3": Shade("#6b6860", "#9a978f"),
    "ink": Shade("#1d1c1a", "#ecebe7"),
    "on-ink": Shade("#ffffff", "#16150f"),
    "focus": Shade("#2456d6", "#8fb0ff"),
    "mark": Shade("#ffe680", "#5c4a06"),
    "mark-text": Shade("#1d1c1a", "#fff3c4"),
    "mark-line": Shade("#c99700", "#e3b93a"),
    "warn-bg": Shade("#fff6dc", "#2b2410"),
    "warn-line": Shade("#e5c768", "#6b5718"),
}
_TEXT = TOKENS["text"]
OWNERS: dict[str, OwnerLook] = {
    "model": OwnerLook("M", Shade("#2c427f", "#6267cf"), Shade(WHITE, WHITE)),
    "budget": OwnerLook("B", Shade("#84590b", "#dab63a"), Shade(WHITE, INK)),
    "provider": OwnerLook("P", Shade("#ea6b05", "#d97a2e"), Shade(INK, INK)),
    "environment": OwnerLook("E", Shade("#307473", "#4fdcd8"), Shade(WHITE, INK)),
    "harness": OwnerLook("H", Shade("#794fc4", "#bf9fff"), Shade(WHITE, INK)),
    "grader": OwnerLook("G", Shade("#772632", "#bb4560"), Shade(WHITE, WHITE)),
    "task": OwnerLook("T", Shade("#209aeb", "#6d98b8"), Shade(INK, INK)),
    "simulator": OwnerLook("S", Shade("#829b7f", "#b9ec95"), Shade(INK, INK)),
    "collateral": OwnerLook("C", Shade("#8f8c85", "#8b8982"), _TEXT, "hatched"),
    "unknown": OwnerLook("U", Shade("#5c5a55", "#bdbab2"), _TEXT, "outline"),
}
"""In the order of legends and forms."""


def look_of(owner: str) -> OwnerLook:
    return OWNERS.get(owner, OWNERS["unknown"])


def letter_of(owner: str) -> str:
    return look_of(owner).letter


def stylesheet() -> str:
    """The tokens as CSS variables, and for each owner a class that sets its two colours."""
    return "\n".join((":root {", "  color-scheme: light dark;", *_variables(), "}", *_classes(), ""))


def _variables() -> Iterator[str]:
    for name, shade in TOKENS.items():
        yield f"  --{name}: {_either(shade)};"


def _classes() -> Iterator[str]:
    for look in OWNERS.values():
        yield f".{look.letter} {{ --oc: {_either(look.colour)}; --oi: {_either(look.on_it)}; }}"


def _either(shade: Shade) -> str:
    return shade.light if shade.light == shade.dark else f"light-dark({shade.light}, {shade.dark})"


LETTERS = {"failed": "F", "partial": "p", "passed": ".", "number": "n", "error": "e", "limit": "l", "cancelled": "x",
           "follows": "c", "unscored": "?", "missing": "-", "contradictory": "!", "mixed": "~", "": " "}  # fmt: skip
LEGEND = {"F": "fail", ".": "pass", "p": "in part", "n": "a number", "e": "no answer", "l": "hit a limit",
          "x": "cancelled", "c": "knock-on", "?": "not scored", "-": "missing", "!": "contradictory rows",
          "~": "mixed attempts"}  # fmt: skip


def owners_to_show(states: Sequence[Sequence[str]], owners: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Who has to act, for each run and case; nobody while it is not decided which of contradictory rows counts."""
    return tuple(
        tuple("" if state == "contradictory" else owner for state, owner in zip(*row, strict=True))
        for row in zip(states, owners, strict=True)
    )
