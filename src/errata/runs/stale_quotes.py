"""Whether the quotes of verdicts are still at their places in the log."""

from collections.abc import Sequence

from errata.model import StoredRun, Verdict
from errata.model.standing import may_be_stale
from errata.review.quotes import QuoteCheck
from errata.review.stored import quotes
from errata.runs.review_context import context_of
from errata.store.database import Store


def quotes_found(stored: StoredRun, store: Store, verdicts: Sequence[Verdict]) -> QuoteCheck:
    from errata.runs.view import RunView  # noqa: PLC0415 the view asks for this

    return quotes.quotes_found(context_of(RunView(stored, store)), store, verdicts)


def is_stale(verdict: Verdict, stored: StoredRun, store: Store) -> bool:
    is_own = verdict.inherited_from is None
    return is_own and may_be_stale(verdict, stored) and bool(quotes_found(stored, store, [verdict]).stale)
