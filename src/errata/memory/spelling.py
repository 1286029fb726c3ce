"""One name, many spellings: models, runs, cases, steps and days as people write them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from errata.text.lazy_regex import lazy_regex

# how a request is routed or paid for; what changes the model itself, such as `:thinking`, stays
_ROUTES = frozenset(("free", "paid", "beta", "nitro", "floor", "exacto", "extended"))
# who serves the model; any other remark in brackets, such as `(high)`, `(old)` or `(2024-05)`, is part of the name
_HOSTS = frozenset(
    """
    anyscale atlascloud azure azure-openai azure-ai baseten bedrock amazon-bedrock aws aws-bedrock cerebras chutes
    cloudflare databricks deepinfra featherless fireworks fireworks-ai friendli gmicloud groq huggingface hugging-face
    hyperbolic inference-net kluster lambda lepton litellm nebius novita novita-ai nscale openrouter parasail
    perplexity-api replicate requesty sambanova siliconflow targon together together-ai togetherai vercel vertex
    vertex-ai google-vertex openai openai-api anthropic anthropic-api google google-api api free paid
    """.split()  # noqa: SIM905
)
_HOSTING = lazy_regex(r"^(?:via|on|through|hosted-(?:by|on)|served-by|provider)-")
_SEPARATORS = lazy_regex(r"[\W_]+")
_REMARK = lazy_regex(r"\s?[(\[]([^()\[\]]{0,200})[)\]]")
LONGEST = 300
SHORTEST_PREFIX = 6
"""Ids of one kind often begin alike: fewer characters than these name no run by themselves."""


@lru_cache(maxsize=50_000)
def folded(name: str) -> str:
    """Without what is easily written differently: capitals, dots, underscores, hyphens and spaces."""
    return _SEPARATORS.sub("-", unicodedata.normalize("NFKC", name).casefold()).strip("-")


class ModelName(NamedTuple):
    vendor: str
    """Empty where the name does not tell."""
    base: str


def without_host(text: str, *, providers: Iterable[str] = ()) -> tuple[str, list[str]]:
    """A name without its remarks in brackets, and what these add to it.

    Neither who serves the model nor its name again: `gpt-5 (GPT-5)`, `GPT 5 (openai/gpt-5)`.
    """
    name, remarks = text, list[str]()
    for _ in range(2):  # brackets within brackets
        remarks += (" ".join(remark.split()) for remark in _REMARK.findall(name))
        name = _REMARK.sub("", name).strip()
    hosts = _HOSTS.union(map(folded, providers), [folded(name).partition("-")[0]])
    for remark in remarks if " " in name else ():
        shared = {*folded(name).split("-")}.intersection(folded(remark).split("-"))
        if " " not in remark and shared and ("/" in remark or len(shared) == len({*folded(name).split("-")})):
            name = remark
    own, apart = {*folded(" ".join((name, *providers))).split("-")}, []
    for remark in remarks:
        words = folded(remark.rpartition(": ")[2]).split("-")
        left = [word for word in words if word not in own]
        if folded(name).replace("-", "").startswith("".join(words)) or _HOSTING.sub("", folded(remark)) in hosts:
            continue
        if not any(word in own and word.isalpha() for word in words):
            apart.append(remark)
        elif left:
            apart.append(" ".join(left))
    return name, apart


def model_name(text: str, *, providers: Iterable[str] = ()) -> ModelName:
    """`acme/Nimbus-2.1:free (openrouter)` is the `nimbus-2-1` of `acme`; `Nimbus (high)` is `nimbus-high`."""
    bare, remarks = without_host(text.strip().strip("`*\"'"), providers=providers)
    name, _, route = bare.partition(":")
    if route and folded(route) not in _ROUTES:
        name = bare
    *before, base = [part for part in name.split("/") if part.strip()] or [""]
    vendor = folded(before[-1]) if before else ""
    return ModelName("" if vendor in ("unknown", "models") else vendor, folded(" ".join((base, *remarks))))


def same_model(left: str, right: str, *, providers: Iterable[str] = ()) -> bool:
    """Whether two names mean the same model; a vendor or provider that only one of them has makes no difference."""
    hosts = tuple(one for one in (*providers, model_name(left).vendor, model_name(right).vendor) if one)
    here, there = model_name(left, providers=hosts), model_name(right, providers=hosts)
    if not here.base or here.base != there.base:
        return False
    known = {"", *map(folded, providers)}
    return here.vendor == there.vendor or here.vendor in known or there.vendor in known


def same_run(written: str, *ids: str) -> bool:
    wanted = written.strip().strip("`").casefold()
    if not wanted:
        return False
    return any(
        run_id
        and (run_id.casefold() == wanted or (len(wanted) >= SHORTEST_PREFIX and run_id.casefold().startswith(wanted)))
        for run_id in ids
    )


Segments = tuple[str, ...]
_NUMBER = lazy_regex(r"^\d{2,4}-(?=[^\W\d])")
"""`009-text_search` is the ninth of its folder; people leave the number out."""


@lru_cache(maxsize=50_000)
def segments(case: str) -> Segments:
    return tuple(part for part in map(folded, case.split("/")) if part)


@lru_cache(maxsize=50_000)
def without_number(part: str) -> str:
    return _NUMBER.sub("", part)


def same_part(left: str, right: str) -> bool:
    """Whether two parts of a name are the same; a number in front may be missing on one side, not differ."""
    return left == right or (
        without_number(left) == without_number(right)
        and (left == without_number(left) or right == without_number(right))
    )


def ends_alike(left: Segments, right: Segments) -> bool:
    short, long = sorted((left, right), key=len)
    return bool(short) and all(map(same_part, short, long[-len(short) :]))


class CaseSpellings:
    """The cases of a run, found by what a report calls them: their names, however spelt, or the ends of these."""

    def __init__(self, keys: Iterable[str], *, suite: str = "") -> None:
        self._names: dict[str, str] = {}
        self._by_last: dict[str, list[tuple[Segments, str]]] = {}
        self._by_bare: dict[str, list[tuple[Segments, str]]] = {}
        """The same without the numbers in front."""
        for key in keys:
            name = key.removeprefix(f"{suite}/") if suite else key
            self._names |= {key: key, name: key}
            parts = segments(name)
            if parts:
                self._by_last.setdefault(parts[-1], []).append((parts, key))
                self._by_bare.setdefault(without_number(parts[-1]), []).append((parts, key))

    def find(self, written: str) -> tuple[str, ...]:
        """The keys that may be meant: none, one, or several where the name fits more than one case."""
        exact = self._names.get(written.strip())
        if exact is not None:
            return (exact,)
        wanted = segments(written)
        if not wanted:
            return ()
        last, bare = wanted[-1], without_number(wanted[-1])
        numbered = (*self._by_last.get(last, ()), *self._by_last.get(bare, ()))
        near = self._by_bare.get(bare, ()) if last == bare else numbered
        matches = [(parts, key) for parts, key in near if ends_alike(parts, wanted)]
        whole = [key for parts, key in matches if parts == wanted]
        exact_end = [key for parts, key in matches if parts[-1] == wanted[-1]]
        return tuple(dict.fromkeys(whole or exact_end or (key for _, key in matches)))


# --- steps


_STEPS = {
    "filesystem": r"file[\s_-]?system",
    "install": r"(?:npm |bun |package )?install(?:s|ed|ing|ation)?",
    "deploy": r"(?:convex )?deploy(?:s|ed|ing|ment)?|schema push",
    "tsc": r"tsc|type[\s_-]?check(?:s|ed|er|ing)?|typescript|type errors?",
    "eslint": r"es[\s-]?lint|lint(?:s|er|ing)?",
    "tests": r"(?:unit |hidden |grader )?tests?(?: suite)?|vitest",
}
_EXACT = {name: lazy_regex(form, re.IGNORECASE) for name, form in _STEPS.items()}
_ANY_STEP = "|".join(_STEPS.values())
_STEP_FILLERS = lazy_regex(
    r"(?i)\b(?:the|failed|fails|failing|failures?|steps?|first|only|at|in|during|errors?|phase|stage|checks?|group|alone)\b"
)
_STEP_WORDS = lazy_regex(
    rf"(?i)\b(?:fail(?:s|ed)?|stop(?:s|ped)?|broken?|breaks?) (?:at|in|on|during) (?:the |its )?[`\"'*]?({_ANY_STEP})\b"
    rf"|(?<![\w@/-])({_ANY_STEP})[`\"'*)]? (?:step )?(?:fail(?:s|ed)?|rejects?|complains?)\b"
)
_STEP_END = lazy_regex(r"[(;,/+&\n→[]|\s[–—-]{1,2}\s|\s(?:and|then)\s")
_CHUNK_END = lazy_regex(r"[;:,·|()\[\]→>\n]|\s[-–—]{1,2}\s|\.(?=\s|$)")
CHUNKS = 7


@lru_cache(maxsize=4_096)
def canonical_step(text: str) -> str:
    """The harness's name of a step; empty where the text is not just the name of a known one."""
    whole = text[:LONGEST].strip(" `*_\"'.,:❌✗✘⚠️🔴")
    bare = " ".join(_STEP_FILLERS.sub(" ", whole).split())
    return next((name for name, form in _EXACT.items() if form.fullmatch(whole) or form.fullmatch(bare)), "")


def step_in_field(value: str) -> str:
    """`tests (67%)` and `tsc; tests fail too` are `tests` and `tsc`."""
    first = _STEP_END.split(value.strip(" `*\n"), maxsplit=1)[0].strip(" `*–—-")
    return canonical_step(first) or (first if len(first.split()) <= 3 else step_in(value))


def step_in(text: str) -> str:
    """The step that is alone between separators, or where the text has a failure."""
    chunks = _CHUNK_END.split(text[:LONGEST])[:CHUNKS]
    return next(filter(None, map(canonical_step, chunks)), "") or step_in_sentence(text)


def step_in_sentence(text: str) -> str:
    """`fails at eslint`, `the storage tests failed`."""
    match = _STEP_WORDS.search(text)
    return canonical_step(match[1] or match[2]) if match else ""


# --- days


_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905
_MONTH = rf"(?P<name>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th|\.)?"
_DATES = (
    lazy_regex(r"(?<!\d)(?P<y>\d{4})([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})(?!\d)"),
    lazy_regex(r"(?<![\w-])(?P<y>20\d\d)(?P<m>\d\d)(?P<d>\d\d)(?![\d-])"),
    lazy_regex(rf"(?<!\d){_DAY} (?:of )?{_MONTH},? (?P<y>\d{{4}})(?!\d)", re.IGNORECASE),
    lazy_regex(rf"\b{_MONTH} {_DAY},? (?P<y>\d{{4}})(?!\d)", re.IGNORECASE),
    lazy_regex(r"(?<![\w.])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})(?!\d)"),
)


def date_in(text: str) -> str:
    return min(_dates_in(text), default=(0, 0, ""))[2]


def without_date(text: str) -> str:
    start, end, _ = min(_dates_in(text), default=(0, 0, ""))
    before = re.sub(r"(?i)\bon $", "", text[:start])
    return f"{before}{text[end:].lstrip(' :,–—-)`*')}" if end else text


def _dates_in(text: str) -> Iterator[tuple[int, int, str]]:
    for form in _DATES:
        for match in form.finditer(text[:LONGEST]):
            parts = match.groupdict()
            name = parts.get("name")
            month = _MONTHS.index(name.lower()) + 1 if name else int(parts["m"])
            try:
                yield match.start(), match.end(), date(int(parts["y"]), month, int(parts["d"])).isoformat()
            except ValueError:
                continue


def is_gap(label: str) -> bool:
    return folded(label) == "known-gap"
