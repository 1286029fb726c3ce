"""Secrets that are known by the name in front of them: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`.

A name alone proves little: `token: string` is code, `PASSWORD=XXXX` a placeholder, `the token: it` prose. What a
password is nobody can see, so under such a name only placeholders, types and prose stay. Under other names a value that
is a plain word or an expression stays, too. A plain word is one of `common_words.txt`: letters alone may be a password.
"""

import re
import string
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from errata.text.encoded import visible
from errata.text.lazy_regex import lazy_regex
from errata.text.secret_rules import names

SHORTEST = 6
LONGEST_WORD = 16
"""Letters of a plain word; what is longer is nobody's word."""
_BEFORE = 24
_LONGEST_FLAG = 42
_LONGEST_NAME = 64
_SIGN_IN_VALUE = 4
"""Characters of a sign behind a name that a value before it may have taken."""
_HEAD = 300
"""Characters of a value that decide whether it is harmless."""

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_PASSWORDS = ("pass", "pwd", "contras")

_SIGN = lazy_regex(
    r"""(?:\\{0,16}["'`])?\]?\)?[ \t]{0,20}(?:
        (?P<sign>=>|:=|==?|:|->)[ \t]{0,20}(?:[|>][-+]?[ \t]*)?(?:\n[ \t]{1,20})?
        |,?\s{0,20}(?:\\{0,16}["'])?value(?:\\{0,16}["'])?[ \t]{0,20}[:=][ \t]{0,20}
        |(?<=["'])(?P<comma>,)[ \t]{0,20}(?=\\{0,16}["'])
        |(?P<tag>>)(?=[^<>\s]{6,400}</))""",
    re.VERBOSE,
)
_QUOTED = lazy_regex(r"""(?:[bru]?"((?:[^"\\\n]|\\.)+)|[bru]?'((?:[^'\\\n]|\\.)+)|`([^`\n]+))""")
_ENCODED_QUOTE = lazy_regex(r"""\\+(["'])([^"'\n]+)""")
_RUN = lazy_regex(r"""[^\s"'`,;&<>\\]+""")
_GIVEN = lazy_regex(r"""[ \t]+(?!-)(?=["']?[^\s"'])""")
_FLAG = lazy_regex(r"(?<![\w-])--?[\w-]{0,40}\Z")
_NAME_PARTS = lazy_regex(r"(?<![\w.-])[\w.-]*+\Z")

_PLACEHOLDER = lazy_regex(
    r"""(?xi)
    (?:none|null|nil|undefined|true|false|nan|required|optional|missing|invalid|expired|unknown|default|empty|include
      |omit|same-origin|redacted|hidden|masked|placeholder|changeme|example|dummy|secret|password|token|string|str|int
      |bool|boolean|bytes|number|object|value|varchar|text)[)\]},;.:!?]*\Z
    |\$\{?[a-z_]|\$\(|\$\{\{|<|\[redacted|\{\{?[\w.\ ]*\}|%[sd(]|\#\{|@@
    |(?:your|my|insert|replace|enter|put|add)[-_ ]|https?://[^@]*\Z|arn:
    |os\.environ|process\.env|import\.meta|env\.|secrets\.|vault:
    |(.)\1{0,63}[)\]},;.]*\Z|[*x\u2022.#_-]{1,64}[)\]},;.]*\Z"""
)
_DIGITS = lazy_regex(r"[\d.,:/%]+[)\]}]*\Z")
_CALL = lazy_regex(r"(?:await\s|new\s)?[A-Za-z_][\w.]{0,100}[(\[{]")
_ATTRIBUTE = lazy_regex(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+[)\]},;:?!]*\Z")
_IDENTIFIER = lazy_regex(r"[A-Za-z]+(?:_[A-Za-z]+)+[)\]},;:?!.]*\Z")
_WORD = lazy_regex(r"\s?(?:[A-Z]?[^\W\d_A-Z]+(?:[A-Z][^\W\d_A-Z]+)*|[A-Z]+)[)\]}.!?*]*\Z")
_MARK = lazy_regex(r"\[redacted:[a-z0-9-]*\Z")
_MARK_END = lazy_regex(r"[a-z0-9-]*\]")
_LONE_WORD = lazy_regex(r"[a-z]{1,20}\b")
_PART_OF_NAME = lazy_regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PROSE = lazy_regex(r"(?:[^\W\d_]+[.,:;!?')]*\s+)+[^\W\d_]+[.,:;!?')]*\s*\Z")
_PATH = lazy_regex(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[a-z0-9_.\-/\\ ]*|[^=+]*\.[a-z]{2,5})\Z")


class Span(NamedTuple):
    start: int
    end: int


class _Value(NamedTuple):
    """A value with what decides whether it is a secret."""

    value: str
    name: str
    compound: bool
    """Whether the name is more than a word that prose may have: `smtp_pass`, not `password`."""
    quoted: bool = True
    tight: bool = False
    """Whether an environment or a connection string gives it: `NAME=value`."""
    ends_line: bool = True
    comma: bool = False
    below: bool = False
    """Whether it is on the next line, as in YAML or in `if not password:`."""

    @property
    def is_password(self) -> bool:
        return any(word in self.name for word in _PASSWORDS)

    @property
    def is_generated(self) -> bool:
        """A program makes keys and tokens, of digits or of many letters. `token: RBRACE` is one of a language."""
        return self.name.startswith(("token", "key"))


def named_secrets(text: str, lowered: str = "") -> Iterator[Span]:
    """In the order of their positions. `lowered` is the text in lower case, if it is known."""
    lowered = lowered or lower(text)
    rules = names()
    for hint, stems in rules.stems.items():
        if hint in lowered and any(stem in lowered for stem in stems):
            break
    else:
        return
    after = 0
    run_end = _RunEnd()
    for name in rules.name.finditer(lowered):
        # a name at the end of a value, as in `TOKEN: abc|TOKEN: def`, has a value of its own behind it
        is_inside = name.start() < after
        if is_inside and name.end() < after - _SIGN_IN_VALUE:
            continue
        if _names_secret(text, lowered, name):
            secret = _value(text, name, run_end)
            if secret and (not is_inside or secret.start >= after):
                after = secret.end
                yield secret


def lower(text: str) -> str:
    """In lower case, with every character in its place."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_LOWER)  # a few capitals become two characters


def is_secret_under(name: str, value: Any) -> bool:
    if not isinstance(value, str) or len(value) < SHORTEST:
        return False
    named = _secret_name(name)
    return named is not None and not _is_harmless(_Value(value, *named))


@lru_cache(4_096)
def _secret_name(field: str) -> tuple[str, bool] | None:
    """What the name of a field ends in, and whether it is compound; None where no secret has such a name."""
    name = visible(field)
    lowered = lower(name)
    match = None
    for match in names().name.finditer(lowered):  # noqa: B007 (the last one counts)
        pass
    if match is None or match.end() != len(lowered) or not _names_secret(name, lowered, match):
        return None
    return match[0], _is_compound(name, match)


def _names_secret(text: str, lowered: str, name: re.Match[str]) -> bool:
    """`key` and `pass` are names of secrets only after certain words. What a mark names is redacted already."""
    start = name.start()
    window = max(0, start - _BEFORE)
    if _MARK.search(lowered, max(0, start - _LONGEST_NAME), start) and _MARK_END.match(lowered, name.end()):
        return False
    if name[0].startswith("_pass"):
        return names().before_pass.search(lowered, window, start) is not None
    if not name[0].startswith("key"):
        return True
    if not names().before_key.search(lowered, window, start):
        return False
    weak = names().weak_key.search(lowered, window, start)
    return weak is None or _starts_word(text, lowered, weak.start())


def _starts_word(text: str, lowered: str, at: int) -> bool:
    return at == 0 or not lowered[at - 1].isalpha() or (text[at].isupper() and not text[at - 1].isupper())


def _is_compound(text: str, name: re.Match[str]) -> bool:
    before = text[max(0, name.start() - 1) : name.start()]
    return name[0].startswith("_") or before.isalnum() or (before != "" and before in "_-.")


class _RunEnd:
    """Where the run of characters at a place ends: each run is measured once, however many names are in it."""

    def __init__(self) -> None:
        self._end = 0

    def at(self, text: str, start: int) -> int:
        if start >= self._end:
            match = _RUN.match(text, start)
            if match is None:
                return start
            self._end = match.end()
        return self._end


def _value(text: str, name: re.Match[str], run_end: _RunEnd) -> Span | None:
    sign = _SIGN.match(text, name.end())
    if sign is None:
        given = _GIVEN.match(text, name.end())
        flag = given and _FLAG.search(text, max(0, name.start() - _LONGEST_FLAG), name.start())
        return _given_value(text, name, given.end(), run_end, tight=True) if given and flag else None
    if sign["sign"] == ":" and _is_path(text, name.start()):
        return None
    equals = sign["sign"] == "="
    tight = equals and sign.end() == sign.end("sign")
    if equals and not tight and sign.start("sign") == name.end() and _is_lone_word(text, sign.end()):
        return None  # `all PASSWORD= patterns` is prose: an assignment has blanks on both sides or on none
    return _given_value(
        text, name, sign.end(), run_end, tight=tight, comma=sign["comma"] is not None, below="\n" in sign[0]
    )


def _is_lone_word(text: str, start: int) -> bool:
    word = _LONE_WORD.match(text, start)
    return word is not None and (len(word[0]) < SHORTEST or word[0] in common_words())


def _given_value(
    text: str,
    name: re.Match[str],
    at: int,
    run_end: _RunEnd,
    *,
    tight: bool,
    comma: bool = False,
    below: bool = False,
) -> Span | None:
    span = _span(text, at, run_end)
    if span is None or span.end - span.start < SHORTEST:
        return None
    quoted = span.start > at
    given = _Value(
        value=text[span.start : min(span.end, span.start + _HEAD)],
        name=name[0],
        compound=_is_compound(text, name),
        quoted=quoted,
        tight=tight,
        ends_line=_ends_line(text, span.end),
        comma=comma,
        below=below,
    )
    return None if _is_harmless(given) else span


def _span(text: str, at: int, run_end: _RunEnd) -> Span | None:
    """Where the value is: in quotes, or up to the next blank or mark."""
    if quoted := _QUOTED.match(text, at):
        return Span(*quoted.span(quoted.lastindex or 0))
    if quoted := _ENCODED_QUOTE.match(text, at):
        start, end = quoted.span(2)
        return Span(start, end - len(quoted[2]) + len(quoted[2].rstrip("\\")))
    return Span(at, run_end.at(text, at))


def _ends_line(text: str, end: int) -> bool:
    following = text[end : end + 2]
    return not following or following[0] in "\r\n,;&\"'`" or not following.strip(" ")


def _is_path(text: str, start: int) -> bool:
    """`/etc/passwd: …` is the name of a file."""
    head = _NAME_PARTS.search(text, max(0, start - _LONGEST_NAME), start)
    return head is not None and head.start() > 0 and text[head.start() - 1] in "/\\"


def _is_harmless(given: _Value) -> bool:
    value = given.value
    if value[0].isspace() or value[0] in ",;)" or _PLACEHOLDER.match(value) or _PATH.match(value):
        return True
    if given.comma and not any(map(str.isdigit, value)):
        return True
    if not given.quoted and _is_expression(given):
        return True
    if given.is_password:
        return not given.quoted and not given.tight and _is_word_in_prose(given)
    if _DIGITS.match(value) or _PROSE.match(value):
        return True
    if len(value) >= LONGEST_WORD or (given.tight and given.ends_line) or not _WORD.match(value):
        return False
    return given.is_generated or _has_only_words(value) or _is_type(value)


def _is_expression(given: _Value) -> bool:
    """Of a program: a call, an attribute, another name."""
    if _CALL.match(given.value) or _ATTRIBUTE.match(given.value):
        return True
    if given.tight or not _IDENTIFIER.match(given.value):
        return False
    return not given.is_password or any(part in common_words() for part in _words(given.value))


def _is_word_in_prose(given: _Value) -> bool:
    """A word that others follow, or a type: `password: SecretStr`."""
    if not _WORD.match(given.value):
        return False
    if given.below and (not given.ends_line or _has_only_words(given.value)):
        return True  # a statement
    if _is_type(given.value):
        return True
    return _has_only_words(given.value) and (not given.ends_line or (given.value[0].isupper() and not given.compound))


def _is_type(value: str) -> bool:
    """`SecretStr`, `HTTPPasswordMgr`."""
    return value[0].isupper() and not names().types.isdisjoint(_words(value)[-1:])


def _has_only_words(value: str) -> bool:
    """Whether a run of letters is a common word, or several as in `notRequired`. Other alphabets have no list."""
    return not value.isascii() or all(word in common_words() for word in _words(value))


def _words(value: str) -> list[str]:
    """The words of a name, in lower case."""
    return [part.lower() for part in _PART_OF_NAME.findall(value)]


@lru_cache(1)
def common_words() -> frozenset[str]:
    """Words that documentation has before anything else: by how many files of public packages have them."""
    return frozenset(files("errata.text").joinpath("common_words.txt").read_text(encoding="utf-8").split())
