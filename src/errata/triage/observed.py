"""One observation about a failure, and whom it names as the one who has to act."""

from collections.abc import Callable, Iterator

from errata.model import Attempt, Case, Signal, SourceRef
from errata.model.record import Struct
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


def signal(name: str, strength: Confidence, where: str, quote: str, ref: SourceRef | None = None) -> Signal:
    """Of a rule that is a function: it is called like what it sees."""
    return Signal(name=name, rule=name, where=where, quote=short_quote(quote), strength=strength, ref=ref)


def short_quote(quote: str) -> str:
    return beginning(" ".join(quote.split()), QUOTE)
