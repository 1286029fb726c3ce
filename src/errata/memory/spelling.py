"""One name, many spellings: models, runs and cases as people write them in files, folders and sentences."""

import unicodedata
from collections.abc import Iterable
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
    vertex-ai google-vertex openai-api anthropic-api google-api api free paid
    """.split()  # noqa: SIM905
)
_HOSTING = lazy_regex(r"^(?:via|on|through|hosted-(?:by|on)|served-by|provider)-")
_SEPARATORS = lazy_regex(r"[\W_]+")
_REMARK = lazy_regex(r"\s*[(\[]([^()\[\]]*)[)\]]")
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
    """A name without its remarks in brackets, and those of them that do not just name who serves the model."""
    name = _REMARK.sub("", text).strip()
    hosts = _HOSTS.union(map(folded, providers), [folded(name).partition("-")[0]])
    remarks = [remark.strip() for remark in _REMARK.findall(text)]
    return name, [remark for remark in remarks if _HOSTING.sub("", folded(remark)) not in hosts]


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
    hosts = tuple(one for one in providers if one)
    here, there = model_name(left, providers=hosts), model_name(right, providers=hosts)
    if not here.base or here.base != there.base:
        return False
    known = {"", *map(folded, hosts)}
    return here.vendor == there.vendor or here.vendor in known or there.vendor in known


def same_run(written: str, *ids: str) -> bool:
    """Whether what a report calls its run is the id, or the beginning of it."""
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
    """Whether one is the other, or the end of it."""
    short, long = sorted((left, right), key=len)
    return bool(short) and all(map(same_part, short, long[-len(short) :]))


class CaseSpellings:
    """The cases of a run, found by what a report calls them: their names, however spelt, or the ends of these."""

    def __init__(self, keys: Iterable[str], *, suite: str = "") -> None:
        self._names: dict[str, str] = {}
        self._by_ending: dict[str, list[tuple[Segments, str]]] = {}
        for key in keys:
            name = key.removeprefix(f"{suite}/") if suite else key
            self._names |= {key: key, name: key}
            parts = segments(name)
            if parts:
                self._by_ending.setdefault(without_number(parts[-1]), []).append((parts, key))

    def find(self, written: str) -> tuple[str, ...]:
        """The keys that may be meant: none, one, or several where the name fits more than one case."""
        exact = self._names.get(written.strip())
        if exact is not None:
            return (exact,)
        wanted = segments(written)
        if not wanted:
            return ()
        near = self._by_ending.get(without_number(wanted[-1]), ())
        matches = [(parts, key) for parts, key in near if ends_alike(parts, wanted)]
        whole = [key for parts, key in matches if parts == wanted]
        exact_end = [key for parts, key in matches if parts[-1] == wanted[-1]]
        return tuple(dict.fromkeys(whole or exact_end or (key for _, key in matches)))
