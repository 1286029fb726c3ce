"""Honest quotes: what a careful reviewer copies from a log, also as an editor or a chat window changes it on the way.

`texts.jsonl` has passages of the samples; ORIGIN.md names them. Where a line, a sentence or a JSON value ends is
decided here by simple means of its own, so that it is not a copy of the rules that are measured.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.quotes.misleading import Case

TEXTS = Path(__file__).with_name("texts.jsonl")
SHORTEST, LONGEST = 15, 600
"""As documented: characters without blanks that a quote needs unless it is a line; and how much a person copies."""
_SENTENCE = re.compile(
    r'(?:(?<=[.!?"] )|(?<=")|^)[A-Z][^.!?"\n]*(?:[.!?](?!\s)[^.!?"\n]*)*[.!?](?=\s|"|\Z)', re.MULTILINE
)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_PAIR = re.compile(r'"[\w-]+"\s*:\s*(?:"(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)')
_CODE = re.compile(r"[(){};=]|^\s*(?:def|class|import|from|return|if|for|const|export|await)\b")


def honest(count: int, seed: int) -> list[Case]:
    chance = random.Random(seed)
    texts = [json.loads(line) for line in TEXTS.read_text(encoding="utf-8").splitlines()]
    cases: dict[Case, None] = {}
    drawn = {
        form: [(row, quote) for row in texts for quote in draw(row["text"]) if _is_enough(quote, row["text"])]
        for form, draw in FORMS.items()
    }
    while len(cases) < count:
        form = chance.choice(list(drawn))
        row, quote = chance.choice(drawn[form])
        cases.setdefault(Case(row["sample"].split("/")[0], form, row["text"], chance.choice(PASTES)(quote, chance)))
    return list(cases)


def _is_enough(quote: str, text: str) -> bool:
    """As a careful reviewer knows: long enough, or a line that is there once; with words."""
    if not any(one.isalnum() for one in quote) or len(quote) > LONGEST:
        return False
    lines = [line.strip() for line in text.splitlines()]
    return len("".join(quote.split())) >= SHORTEST or lines.count(quote.strip()) == 1


def lines(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line.strip())


def several_lines(text: str) -> Iterator[str]:
    every = list(lines(text))
    return ("\n".join(every[at : at + 3]) for at in range(len(every) - 2))


def sentences(text: str) -> Iterator[str]:
    return (match[0] for match in _SENTENCE.finditer(text))


def clauses(text: str) -> Iterator[str]:
    """Sentences at their commas and semicolons, where no number and no bracket is around them."""
    for sentence in sentences(text):
        if not re.search(r"\d[,.]\d|[()\[\]{}\"“”]", sentence):
            yield from (part.strip() for part in re.split(r"[,;] ", sentence.rstrip(".!?")))


def code_lines(text: str) -> Iterator[str]:
    return (line for line in lines(text) if _CODE.search(line))


def json_values(text: str) -> Iterator[str]:
    """With and without its quotation marks."""
    for match in _STRING.finditer(text):
        if text[match.end() :].lstrip()[:1] in (",", "}", "]") and text[: match.start()].rstrip()[-1:] in (
            ":",
            "[",
            ",",
        ):
            yield from (match[0], match[0][1:-1])


def json_pairs(text: str) -> Iterator[str]:
    return (match[0] for match in _PAIR.finditer(text))


def decoded_values(text: str) -> Iterator[str]:
    """As a program prints them."""
    for value in json_values(text):
        if value.startswith('"') and "\\" in value:
            decoded: Any = json.loads(value, strict=False)
            yield str(decoded)


FORMS: dict[str, Callable[[str], Iterator[str]]] = {
    "line": lines,
    "three lines": several_lines,
    "sentence": sentences,
    "clause": clauses,
    "code line": code_lines,
    "JSON value": json_values,
    "JSON pair": json_pairs,
    "decoded JSON value": decoded_values,
}


def as_is(quote: str, _: random.Random) -> str:
    return quote


def blanks(quote: str, chance: random.Random) -> str:
    """Wrapped, indented, with tabs and protected blanks."""
    return re.sub(r"\s+", lambda _: chance.choice((" ", "  ", "\n", "\n    ", "\t", "\u00a0", "\u202f", " \n ")), quote)


def around(quote: str, chance: random.Random) -> str:
    return chance.choice((" {} ", "\n{}\n", "\t{}", "{}\n\n")).format(quote)


def curly(quote: str, _: random.Random) -> str:
    """As word processors and chat windows set them."""
    quote = re.sub(r'(?<!\w)"(?=\w)', "“", quote).replace('"', "”")
    return re.sub(r"(?<!\w)'(?=\w)", "‘", quote).replace("'", "’")


def straight(quote: str, _: random.Random) -> str:
    return quote.translate(str.maketrans("“”„‘’‚", "\"\"\"'''"))


def dashes(quote: str, chance: random.Random) -> str:
    dash = chance.choice("–—‑−")
    return quote.replace("—", "-").replace("–", "-") if "—" in quote or "–" in quote else quote.replace("-", dash)


def dots(quote: str, _: random.Random) -> str:
    return quote.replace("…", "...") if "…" in quote else quote.replace("...", "…")


def invisible(quote: str, chance: random.Random) -> str:
    """A zero-width space or joiner, as web pages have them."""
    at = chance.randrange(len(quote) + 1)
    return quote[:at] + chance.choice("\u200b\ufeff\u2060") + quote[at:]


PASTES = (as_is, as_is, as_is, blanks, around, curly, straight, dashes, dots, invisible)
