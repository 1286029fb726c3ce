"""What a failure shows, as far as others may show the same: a key that is equal for equals, and words for the like."""

from typing import Literal, NamedTuple, get_args

from errata.buckets.failing import Failing
from errata.buckets.rules import OF_ONE_CASE, limit_of, says_all, says_something
from errata.buckets.words import masked, words_of
from errata.model.words import Phase
from errata.text.clean import one_line

KEY = 160
_PHASES: frozenset[str] = frozenset(get_args(Phase))
_ANY_ERROR = frozenset(
    f"{name}Error"
    for name in ("", "Assertion", "Attribute", "IO", "Index", "Key", "Name", "OS", "Runtime", "Type", "Value")
)
"""Classes that say nothing about what happened."""
_MACHINERY = frozenset(("budget", "provider", "environment", "harness", "simulator", "collateral"))


Kind = Literal["cluster", "signal", "text", "bare"]


class Symptom(NamedTuple):
    suite: str
    owner: str
    scoring: bool
    """It showed while the answer was measured."""
    signal: str
    key: str
    """Later failures are recognised by it."""
    kind: Kind
    """What the key is made of. `bare` ones have no words to compare: what they share is only where it happened."""
    shape: str
    """The text that it goes by, masked; empty where none tells anything."""
    words: tuple[str, ...]
    case: str
    """Only where it counts: what a subject does wrong is mostly wrong in the same way in the same case."""


def symptom_of(failing: Failing) -> Symptom:
    phase, _, kind = failing.key.coarse.partition(":")
    is_error = phase in _PHASES and bool(kind)
    checks = () if is_error else tuple(failing.key.coarse.split("+"))
    text, words = next(((text, words) for text in failing.texts if (words := words_of(text, without=checks))), ("", ()))
    if is_error and kind not in _ANY_ERROR:
        words = tuple(sorted({*words, *words_of(kind)}))
    shape = shape_of(text)
    kind_of_key, key = _key(failing, shape, is_error=is_error, opaque=not words and _says_something(failing, checks))
    return Symptom(
        suite=failing.suite,
        owner=failing.owner,
        scoring=phase == "scoring",
        signal=failing.signal,
        key=key,
        kind=kind_of_key,
        shape=shape,
        words=words,
        case="" if is_error or failing.owner in _MACHINERY else failing.case,
    )


def shape_of(text: str) -> str:
    return one_line(masked(text), KEY)


def _key(failing: Failing, shape: str, *, is_error: bool, opaque: bool) -> tuple[Kind, str]:
    coarse = failing.key.coarse
    if failing.cluster:
        return "cluster", f"cluster:{failing.cluster}"
    if limit := limit_of(failing.signal, failing.parameters.get("limit", "")):
        return "signal", f"limit:{limit}"
    if says_all(failing.signal):
        return "signal", f"signal:{failing.signal}"
    if is_error:
        return "text", failing.key.exact
    if shape:
        return "text", one_line(f"{failing.owner}:{coarse}:{shape}", KEY)
    if says_something(failing.signal):
        case = f"@{failing.case}" if failing.signal in OF_ONE_CASE else ""
        return "bare", one_line(f"signal:{failing.signal}{case}", KEY)
    # two things differ, and only the case tells which; or nothing is said at all but what failed first
    rest = f"@{failing.case}" if opaque else failing.category
    first = failing.parameters.get("step") or coarse
    return "bare", one_line(f"{failing.owner}:{failing.signal}:{first}:{rest}", KEY)


def _says_something(failing: Failing, checks: tuple[str, ...]) -> bool:
    """More than `tests failed (60%)`, though in no words that could be compared."""
    names = [check.lower() for check in checks if check]
    return any(
        any(map(str.isalpha, text)) and not any(name in text.lower() for name in names) for text in failing.texts
    )
