"""Made-up secrets of every kind that redaction knows, and the ways a log carries them.

The secrets are made from the patterns in `secret_examples.toml` when needed, so that the repository holds none.
"""

import base64
import html
import json
import random
import re
import string
import tomllib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

_PIECE = re.compile(r"\{(uuid|login|([0-9]+)([xAdbwWm]?))\}")
_ALPHABETS = {
    "": string.ascii_letters + string.digits,
    "x": "0123456789abcdef",
    "A": string.ascii_uppercase + string.digits,
    "d": string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "w": string.ascii_lowercase,
    "W": string.ascii_uppercase,
    "m": string.ascii_letters,
}
SHORTEST = 6
"""Shorter pieces are beside the secret: a number of an account."""
WINDOW = 8
"""Characters of a secret in a row that must not be readable."""


class MadeSecret(NamedTuple):
    kind: str
    text: str
    pieces: tuple[str, ...]
    """What must not be readable afterwards."""


@lru_cache(1)
def examples() -> dict[str, list[dict[str, Any]]]:
    """`shape` in the order of the rules, and `name`: each with texts to take out and to keep."""
    return tomllib.loads(Path(__file__).with_name("secret_examples.toml").read_text(encoding="utf-8"))


def secret_kinds() -> list[str]:
    return list(dict.fromkeys(rule.get("kind") or rule["name"] for rule in (*examples()["shape"], *examples()["name"])))


def made_secrets(seed: int = 7) -> Iterator[MadeSecret]:
    """One for each test string of each rule."""
    chance = random.Random(seed)
    for rule in (*examples()["shape"], *examples()["name"]):
        for pattern in rule["test"]:
            yield make(rule.get("kind") or rule["name"], pattern, chance)


def make(kind: str, pattern: str, chance: random.Random) -> MadeSecret:
    pieces: list[str] = []

    def piece(match: re.Match[str]) -> str:
        pieces.append(_piece(match, chance))
        return pieces[-1]

    text = _PIECE.sub(piece, pattern)
    return MadeSecret(kind, text, tuple(one for one in pieces if len(one) >= SHORTEST))


def _piece(match: re.Match[str], chance: random.Random) -> str:
    if match[1] == "uuid":
        return "-".join("".join(chance.choices(_ALPHABETS["x"], k=size)) for size in (8, 4, 4, 4, 12))
    if match[1] == "login":
        password = "".join(chance.choices(_ALPHABETS[""], k=12))
        return base64.b64encode(f"me:{password}".encode()).decode()
    return "".join(chance.choices(_ALPHABETS[match[3]], k=int(match[2])))


def _every(text: str, size: int, between: str) -> str:
    return between.join(text[at : at + size] for at in range(0, len(text), size))


def _escaped(text: str) -> str:
    return json.dumps(text)[1:-1]


CARRIERS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: f"it was {text} and goes on",
    "JSON": lambda text: json.dumps({"note": text, "n": 1}),
    "JSON in JSON": lambda text: json.dumps({"arguments": json.dumps({"command": text})}),
    "JSON in JSON in JSON": lambda text: json.dumps([json.dumps({"a": json.dumps({"b": text})})]),
    "unicode escapes": lambda text: '{"a": "' + "".join(f"\\u{ord(letter):04x}" for letter in text) + '"}',
    "colours": lambda text: f"\x1b[1;31m{_every(text, 9, chr(27) + '[0m' + chr(27) + '[32m')}\x1b[0m done",
    "colours in JSON": lambda text: json.dumps({"out": f"\x1b[31m{_every(text, 11, chr(27) + '[33m')}\x1b[0m"}),
    "address": lambda text: f"GET /log?note={quote(text, safe='')}&page=2",
    "address, every character": lambda text: "q=" + "".join(f"%{ord(letter):02x}" for letter in text),
    "entities": lambda text: f"<td>{''.join(f'&#{ord(one)};' if not one.isalnum() else one for one in text)}</td>",
    "entities in hex": lambda text: f"<b>{''.join(f'&#x{ord(one):x};' for one in text)}</b>",
    "behind escapes": lambda text: f"first\\n{_escaped(text)}\\n\\tlast",
    "tool argument": lambda text: json.dumps({"name": "bash", "arguments": json.dumps({"cmd": f"echo \n{text}\n"})}),
    "header line": lambda text: f"> POST / HTTP/1.1\r\n> {text}\r\n> Accept: */*\r\n",
    "zero-width characters": lambda text: _every(text, 3, "\u200b"),
    "soft hyphens": lambda text: f"so {_every(text, 4, chr(0xAD))}",
    "NUL": lambda text: _every(text, 5, "\x00"),
    "repr": lambda text: f"environ({ {'PATH': '/bin', 'NOTE': text}!r})",
    "bytes": lambda text: f"sent {text.encode()!r}",
    "markdown": lambda text: "".join(f"\\{one}" if one in "_-*[]" else one for one in text),
}

_INVISIBLE = re.compile("[\u200b-\u200f\xad\x00\u2060-\u206f\ufeff]|\x1b\\[[0-9;]*m")
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrt])|([^A-Za-z0-9]))")


@lru_cache(maxsize=2)
def readable(text: str) -> str:
    """What somebody gets who undoes every encoding; on purpose not with errata's own code.

    Kept for the next secret that is looked for in the same text.
    """
    for _ in range(8):
        before = text
        text = _ESCAPE.sub(_unescaped, html.unescape(unquote(_INVISIBLE.sub("", text))))
        if text == before:
            break
    return text


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else (match[4] or "\n")


def leaks(secret: MadeSecret, shown: str) -> bool:
    """Whether a part of the secret can be read in what is shown."""
    seen = {shown, readable(shown)}
    return any(window in text for piece in secret.pieces for window in _windows(piece) for text in seen)


_WORD = re.compile(f"[A-Za-z0-9+/=-]{{{SHORTEST},}}")


def searched_words(text: str) -> list[str]:
    """Everything that a part of a secret may be in: pieces consist of these characters."""
    return _WORD.findall(text)


def _windows(piece: str) -> list[str]:
    if len(piece) <= WINDOW:
        return [piece]
    return [piece[at : at + WINDOW] for at in range(0, len(piece) - WINDOW + 1, WINDOW // 2)]
