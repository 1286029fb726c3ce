"""The step or check that failed, as people write it: `tests (67%)`, "fails at eslint", "does not deploy"."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from errata.text.lazy_regex import lazy_regex

_FORMS = {
    "filesystem": r"file[\s_-]?system",
    "install": r"(?:(?:npm|bun|pnpm|yarn|package|dependency)\s+)?install(?:s|ed|ing|ation)?",
    "deploy": r"(?:convex\s+)?deploy(?:s|ed|ing|ment)?|schema\s+push",
    "tsc": r"tsc|type[\s_-]?check(?:s|ed|er|ing)?|typescript|type\s+errors?",
    "eslint": r"es[\s-]?lint|lint(?:s|er|ing)?",
    "tests": r"(?:(?:unit|hidden|grader|behaviou?ral)[\s-])?tests?(?:\s+suite)?|vitest",
}
STEPS = tuple(_FORMS)
"""In the order of convex-evals."""
_OTHERS = r"build|compile|verifier|judge|[a-z]+(?:_[a-z]+)+"
"""Steps of other harnesses, where a text reports a failure there."""
_ANY = STEP = "|".join(_FORMS.values())
"""Any spelling of any of them, for a pattern."""
_EXACT = {name: lazy_regex(form, re.IGNORECASE) for name, form in _FORMS.items()}
_EDGE = r"(?<![\w@/-])"
_STEP_WORD = lazy_regex(rf"(?i){_EDGE}(?:{_ANY})(?![\w/-])")
_FAILED_AT = lazy_regex(
    r"(?i)\b(?:(?:fail(?:ed|s|ing|ure|ures)?|stop(?:s|ped)?|br(?:oke|eaks?|oken)|die[sd]?|crash(?:es|ed)?|error(?:s|ed)?"
    r"|blocked|reject(?:s|ed)|trip(?:s|ped)|caught|stuck|red)[*_]*\s+(?:only\s+|first\s+|already\s+|both\s+)?"
    r"(?:at|in|on|during|by|with)\s+(?:(?:is|was)\s+)?|(?:trip(?:s|ped)|fail(?:s|ed)|broke|breaks)\s+)"
    rf"(?:the\s+|its\s+)?[`\"'*]*({_ANY}|{_OTHERS})\b"
)
_FAILS = lazy_regex(
    r"(?i)(?<!n't a )(?<!n’t a )(?<!not a )(?<!not )(?<!no )"
    rf"{_EDGE}({_ANY})[`\"'*)]*\s+(?:step\s+)?(?:\([^()]*\)\s+)?(?:only\s+)?"
    r"(?:fail\w*|errors?\b|complain\w*|reject\w*|refuse\w*|breaks?|crash\w*|violations?|warnings?|stop\w*|block\w*|flag\w*|objects?\b)"
)
_CANNOT = lazy_regex(
    r"(?i)(?:n['’]t|\bnot|\bnever|\bcannot|\bfails? to|\brefus\w+ to)\s+(?:be\s+|even\s+)?"
    r"(deploy(?:s|ed)?|install(?:s|ed)?|type[\s-]?check(?:s|ed)?|lint(?:s|ed)?)\b"
)
_PASSES = lazy_regex(
    r"(?i)[`\"'*)]*\s+(?:(?:\w+\s+){0,2}(?:pass(?:es|ed|ing)?|green|succeed\w*|fine|ok)\b|(\d+)\s*/\s*\1(?!\d)"
    r"|(?:did|does|do|can|could)(?:n['’]t|\s+not)\s+(?:catch|notice|see|mind|object|complain)\b)"
)
_DENIED = lazy_regex(r"(?i)(?:\bnot|n['’]t)\s+(?:an?\s+|the\s+|by\s+|at\s+)?$")
_CHUNK_END = lazy_regex(r"[;:,·|()\[\]→>\n]|\s[-–—]{1,2}\s|\.(?=\s|$)")
_AROUND = lazy_regex(
    r"(?i)^(?:the\s+)?(?:failed|fails|failing|failure|first|only|at|in|during)\s+(?:step\s+)?(?:at\s+|in\s+)?|^step\s*:?\s+"
    r"|\s+(?:steps?|only|failed|fails|failures?|failing|errors?|phase|stage|checks?|gate|alone|rules?)(?=\s|$)|\s*\d[\d.,]*\s*%?.*$"
)
CHUNKS = 7
"""Parts of a line behind a case that may be nothing but its step."""


@lru_cache(maxsize=4_096)
def canonical_step(text: str) -> str:
    """The harness's name of a step; empty where the text is not just the name of a known one."""
    whole = text.strip(" `*_\"'.,:❌✗✘⚠️🔴")
    bare = _AROUND.sub("", _AROUND.sub("", whole)).strip(" `*_\"'.,:")
    return next((name for name, form in _EXACT.items() if form.fullmatch(whole) or form.fullmatch(bare)), "")


def step_in_field(value: str) -> str:
    """`tests (67%)` and `tsc; tests fail too` are `tests` and `tsc`."""
    first = re.split(r"[(;,/+&\n]|\s[–—-]\s|\s(?:and|then)\s|→", value.strip().strip("`*"), maxsplit=1)[0].strip()
    return canonical_step(first) or (first if len(first.split()) <= 3 else step_in(value))


@lru_cache(maxsize=256)
def step_in(text: str) -> str:
    """The step that failed by a text's words, or a step alone between separators."""
    match = _CANNOT.search(text) or _FAILED_AT.search(text) or _FAILS.search(text)
    chunks = _CHUNK_END.split(text)[:CHUNKS]
    alone = next(filter(None, map(canonical_step, chunks)), "")
    return alone or (canonical_step(match[1]) or match[1] if match else "")


def failed_step_in(text: str) -> str:
    """Where a text begins with it: `fail at eslint`, "do not deploy"."""
    match = _CANNOT.match(text.lstrip(" ,")) or _FAILED_AT.match(text.lstrip(" ,"))
    return canonical_step(match[1]) if match else ""


@lru_cache(maxsize=256)
def only_step_in(text: str) -> str:
    """The one step that a text mentions without saying that it passed; empty if there are several."""
    names = set(mentioned_steps(text))
    return names.pop() if len(names) == 1 else ""


def mentioned_steps(text: str) -> Iterator[str]:
    """Without those that passed, or are denied."""
    for match in _STEP_WORD.finditer(text):
        if not _PASSES.match(text, match.end()) and not _DENIED.search(text, 0, match.start()):
            yield canonical_step(match[0])


def steps_in_order(names: Sequence[str], text: str) -> dict[str, str]:
    """`a and b: the first fails its tests, the second trips eslint`: where a text has a step for each of several."""
    steps = list(dict.fromkeys(mentioned_steps(text))) if len(names) > 1 else []
    return dict(zip(names, steps, strict=True)) if len(steps) == len(names) else {}


_FRONT = lazy_regex(
    rf"(?i)^[\s*_`#>-]*(?:failed\s+(?:at|in|on)\s+)?({_ANY})[`*_]*(?:\s+(?:step|stage|failures?|errors?))?[`*_]*"
    r"(?:\s*\(\s*\d+[^()]*\))?[`*_]*\s*([:–—]|\s-\s|(?=$|\())"
)


def step_in_front(text: str) -> tuple[str, int]:
    """`eslint (2): …`: the step that a line is about, and where the rest begins."""
    match = _FRONT.match(text)
    return (canonical_step(match[1]), match.end()) if match else ("", 0)


def step_behind(text: str, at: int) -> str:
    """`010-idempotency_key (tests)`: the step in brackets behind the name that begins there."""
    match = re.compile(r"[\w./-]+[`*]*\s*[(\[]([^()\[\]]{2,30})[)\]]").match(text, at)
    return canonical_step(match[1]) if match else ""


def step_of_group(title: str) -> str:
    """The step in a heading over the failures of one step: `eslint (2)`, `Tests failures`."""
    bare = re.sub(r"(?i)\([^()]*\)|[:*_`#]|^\W*\d+[.)]?\s+|^\W*the\s+|[- ](?:only|group)\b", "", title).strip()
    return canonical_step(re.sub(r"(?i)\s*[–—-]\s*\d+.*$|\s+\d+\s*$", "", bare))
