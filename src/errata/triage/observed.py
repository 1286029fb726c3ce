"""One observation about a failure, and whom it names as the one who has to act."""

from collections.abc import Callable, Iterable, Iterator

from msgspec import structs

from errata.model import Attempt, Case, Signal, SourceRef
from errata.model.record import Record, Struct
from errata.model.words import Confidence, Owner, Phase
from errata.text.redact import beginning

QUOTE = 160

OWNER_BY_PHASE: dict[Phase, Owner] = {
    "setup": "environment",
    "environment": "environment",
    "simulator": "simulator",
    "scoring": "grader",
    "aggregation": "harness",
}
"""Where nothing else is known of an error, the phase it happened in is a weak hint."""


class Observed(Struct, gc=False):
    """A signal and the owner it points to; without an owner it is only kept."""

    signal: Signal
    owner: Owner | None = None
    also: tuple[Owner, ...] = ()
    breaks: bool = False
    is_specific: bool = False
    """It names what happened, not only where: it decides before others of its strength."""
    is_self_evident: bool = False
    """Of the owner `model`: the mistake is plain to see, whether or not anybody can pass the case."""
    contradicts_user: bool = False
    """Of the owner `model`: the simulated user of this attempt asked for something else."""
    follows: str = ""
    """The attempt that dragged this one along."""


Rule = Callable[[Attempt, Case | None], Iterator[Observed]]


def signal(
    name: str, strength: Confidence, where: str, quote: str, ref: SourceRef | None = None, *, stated: str = ""
) -> Signal:
    """Of a rule that is a function: it is called like what it sees."""
    quote, stated = short_quote(quote), short_quote(stated)
    return Signal(name=name, rule=name, where=where, quote=quote, stated=stated, strength=strength, ref=ref)


def placed(seen: Signal, attempt: Attempt) -> Signal:
    """With the reference of the very place that it names: what an attempt has may be in another file."""
    ref = _ref_of(seen.where, attempt)
    return structs.replace(seen, ref=ref) if ref is not None and ref != seen.ref else seen


def _ref_of(where: str, attempt: Attempt) -> SourceRef | None:
    kind, bracket, _ = where.partition("[")
    parts: Iterable[tuple[str, Record]] = ()
    if where.startswith("output."):
        return attempt.output.ref
    if where in ("limit", "native_status"):
        return attempt.limit.ref if attempt.limit is not None else None
    if bracket and kind == "checks":
        parts = ((one.name, one) for one in attempt.checks)
    elif bracket and kind == "errors":
        parts = ((str(at), one) for at, one in enumerate(attempt.errors))
    elif bracket and kind == "judgements":
        parts = ((one.judge, one) for one in attempt.judgements)
    elif bracket and kind == "steps":
        parts = ((str(one.index), one) for one in attempt.steps)
    elif attempt.artefacts:
        paths = (where, where.rpartition(":")[0], where.removeprefix("output "))
        return next((one.ref for one in attempt.artefacts if one.path in paths), None)
    return next((part.ref for name, part in parts if where.startswith(f"{kind}[{name}]")), None)


def short_quote(quote: str) -> str:
    return beginning(" ".join(quote.split()), QUOTE)
