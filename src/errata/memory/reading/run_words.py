"""Ids of runs and names of models in what people write."""

import re
from itertools import pairwise

from errata.memory.reading.cases import is_ticket
from errata.memory.reading.dates import date_in
from errata.memory.reading.markdown import Words
from errata.memory.reading.vocabulary import is_numbered
from errata.memory.spelling import without_host
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

NAME = 120
MOST_WORDS = 6
REMARK_WORDS = 3
"""A longer text in brackets is a comment on the model, not a part of its name."""
_ID = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{3,79}")
_ADDRESS = lazy_regex(r"/runs?/([A-Za-z0-9_-]{4,80})")
_TOKEN = lazy_regex(r"(?<![\w./@:-])[A-Za-z0-9][A-Za-z0-9_-]{4,79}(?![\w@/]|\.\w)")
_CALLED_RUN = lazy_regex(r"(?i)\bruns?\b[\s_-]*(?:ids?\b)?(?:\s*(?:no\.?|#))?[\s:=(\[`*\"'#]*")
_MODEL_LIKE = lazy_regex(r"(?<![\w/.@-])[A-Za-z][\w.]*(?:[-/.:][\w.]+)+")
_WITH_VENDOR = lazy_regex(r"(?<![\w/.@-])[A-Za-z][\w.-]*/[A-Za-z][\w.-]*\w(?::[a-z]+)?(?![\w/])")
_NO_MODEL = (
    "post-mortem post-run re-run follow-up per-eval per-failure deep-dive write-up one-line cross-cutting lint/config "
    "pass/fail and/or eval/lint n/a either/or overly-strict known-gap model-fault"
)
_COMPARES = lazy_regex(
    r"(?i)(?:\b|\()\b(?:compared?|versus|vs\.?|previous(?:ly)?|prior|earlier|last|since|than|baseline|before|unlike|replaces|supersedes|ago"
    r"|(?:up|down)\s+from)\b"
)
_FILE = lazy_regex(r"\.(?:[cm]?[jt]sx?|json|md|toml|ya?ml|txt|py)$")


def compares(text: str) -> bool:
    """Whether a text is about another run than the report."""
    return _COMPARES.search(text) is not None


def is_id(text: str) -> bool:
    """Letters and digits mixed, as no word and no model has them: `jn7mm13i`, a uuid, `run_20260122_0007`."""
    if re.fullmatch(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|run_\d{8}\w*", text):
        return True
    changes = sum(left.isdigit() != right.isdigit() for left, right in pairwise(text))
    return len(text) >= 6 and text.isalnum() and text.isascii() and changes >= 2 and not text[0].isupper()


_RATE_BEHIND = lazy_regex(r"[`*)\s:,=–—-]{0,4}(?:[a-z]+\s+){0,2}\(?\d+\s*(?:/|of|out of)\s*\d+")


def ids_in(text: str, *, needs_run: bool = False) -> list[str]:
    """The ids of a text, each once. `needs_run`: only where it also speaks of a run."""
    ids = [match[1] for match in _ADDRESS.finditer(text)]
    called = [one for match in _CALLED_RUN.finditer(text) if (one := _token_at(text, match.end()))]
    ids += [one for one in called if is_id(one) or re.search(r"\d", one)]
    if ids or not needs_run or re.search(r"(?i)\brun", text):
        ids += [match[0] for match in _TOKEN.finditer(text) if is_id(match[0])]
    else:  # `jn7aa01 got 63/66`
        matches = (match for match in _TOKEN.finditer(text) if is_id(match[0]))
        ids += [match[0] for match in matches if _RATE_BEHIND.match(text, match.end())]
    plain = [one for one in ids if not is_numbered(one) and not (date_in(one) and len(one) <= 10)]
    return list(dict.fromkeys(plain))


def _token_at(text: str, at: int) -> str:
    match = _TOKEN.match(text, at)
    return match[0] if match else ""


def id_in(value: Words) -> str:
    """The id in a field for runs."""
    ids = ids_in(value.text)
    if ids:
        return ids[0]
    for text in (*value.code_texts, value.text):
        match = _ID.match(text.strip().strip("`#"))
        if match and (re.search(r"\d", match[0]) or match[0] == text.strip().strip("`#")):
            return match[0]
    return ""


def model_in(text: str) -> str:
    """With a remark that may tell two models apart, `nimbus (high)`; without the provider, `nimbus (openrouter)`."""
    written = re.split(r"\s*[,;]|\.\s|\s[|·•]\s", text.strip("`* "), maxsplit=1)[0]
    bare, remarks = without_host(written)
    name = bare.strip("`* ")
    if not re.search(r"\w", name) or len(name.split()) > MOST_WORDS or re.match(r"\d+\s", name):
        return ""
    short = [remark for remark in remarks if remark and len(remark.split()) <= REMARK_WORDS]
    return one_line(" ".join([name, *(f"({remark})" for remark in short)]), NAME)


def model_like_in(text: str, *, without: str = "", needs_vendor: bool = False) -> str:
    """The first word that is made like the name of a model, with its vendor if possible."""
    forms = (_WITH_VENDOR,) if needs_vendor else (_WITH_VENDOR, _MODEL_LIKE)
    for form in forms:
        for match in form.finditer(text):
            name = match[0].rstrip(".:")
            is_other = (
                is_ticket(name)
                or name.lower() in _NO_MODEL.split()
                or name == without
                or date_in(name)
                or _FILE.search(name)
            )
            if not is_other and not any(map(is_numbered, name.split("/"))) and name.split("/")[0] != "evals":
                return name
    return ""
