"""The colours of owners can be told apart, also by those who see fewer colours, and letters on them can be read."""

from itertools import combinations

import pytest

from errata.model.words import OWNERS as EVERY_OWNER
from errata.render.palette import OWNERS, TOKENS

THEMES = ("light", "dark")
SOLID = {name: look for name, look in OWNERS.items() if look.texture == "solid"}
# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB
SEEN_AS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
LEAST = {
    "light": {"normal": 14.5, "protan": 11.5, "deutan": 11.5, "tritan": 9.0},
    "dark": {"normal": 13.5, "protan": 10.4, "deutan": 10.0, "tritan": 9.0},
}


def linear(colour):
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)


def times(matrix, vector):
    return tuple(sum(one * other for one, other in zip(row, vector, strict=True)) for row in matrix)


def contrast(first, second):
    light = sorted(
        sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(one), strict=True)) for one in (first, second)
    )
    return (light[1] + 0.05) / (light[0] + 0.05)


def oklab(rgb):
    lms = times(
        ((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
         (0.0883024619, 0.2817188376, 0.6299787005)),
        rgb,
    )  # fmt: skip
    roots = tuple(max(one, 0.0) ** (1 / 3) for one in lms)
    return times(
        ((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099),
         (0.0259040371, 0.7827717662, -0.8086757660)),
        roots,
    )  # fmt: skip


def distance(first, second, matrix):
    seen = (oklab(tuple(min(1, max(0, one)) for one in times(matrix, linear(colour)))) for colour in (first, second))
    return 100 * sum((one - other) ** 2 for one, other in zip(*seen, strict=True)) ** 0.5


def test_every_owner_has_a_look_and_a_letter_of_its_own():
    assert list(OWNERS) == list(EVERY_OWNER)
    assert len({look.letter for look in OWNERS.values()}) == len(OWNERS)
    assert all(look.letter == name[0].upper() for name, look in OWNERS.items())


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("seen", SEEN_AS)
def test_any_two_owners_can_be_told_apart(theme, seen):
    least = min(
        distance(getattr(one.colour, theme), getattr(other.colour, theme), SEEN_AS[seen])
        for one, other in combinations(SOLID.values(), 2)
    )

    assert least >= LEAST[theme][seen]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("owner", OWNERS)
def test_the_letter_on_a_colour_can_be_read_and_the_colour_be_seen(theme, owner):
    look = OWNERS[owner]
    colour, letter = getattr(look.colour, theme), getattr(look.on_it, theme)
    surface = getattr(TOKENS["surface"], theme)

    assert contrast(colour, surface) >= 3
    assert contrast(letter, colour if look.texture == "solid" else surface) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("text", ["text", "text-2", "text-3"])
@pytest.mark.parametrize("ground", ["bg", "surface", "sunken", "hover", "warn-bg"])
def test_text_can_be_read_on_every_ground(theme, text, ground):
    assert contrast(getattr(TOKENS[text], theme), getattr(TOKENS[ground], theme)) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    ("front", "ground", "least"),
    [("mark-text", "mark", 7), ("on-ink", "ink", 7), ("focus", "surface", 4.5), ("line-3", "surface", 3)],
)
def test_marks_buttons_focus_and_lines_that_mean_something_can_be_seen(theme, front, ground, least):
    assert contrast(getattr(TOKENS[front], theme), getattr(TOKENS[ground], theme)) >= least
