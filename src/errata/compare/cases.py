"""The cases of a comparison: their names, their categories and what they ask, each taken from one run."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from errata.compare.matrix import Matrix
from errata.errors import NotFoundError
from errata.model import Case, Run
from errata.model.run import case_name
from errata.store.attempts import cases_of
from errata.store.case_outcomes import cases_named
from errata.store.database import Store
from errata.text.clean import one_line
from errata.text.nearest import did_you_mean
from errata.text.redact import redact

ASKS = 48
LISTED = 12


class CaseFacts(msgspec.Struct, frozen=True, gc=False):
    name: str
    """As its harness names it."""
    categories: tuple[str, ...] = ()


def cases_in(matrix: Matrix, store: Store) -> dict[str, CaseFacts]:
    """Case → what is known of it, whether or not a log describes it."""
    first = matrix.columns[0].run
    found = {case.key: _facts(run, case) for run, case in _described(matrix, matrix.rows, store)}
    return {case: found.get(case) or CaseFacts(case_name(first, case)) for case in matrix.rows}


def what_they_ask(matrix: Matrix, keys: Sequence[str], store: Store) -> dict[str, str]:
    """Case → the beginning of its text, where it is one and not made of messages."""
    texts = {case.key: case.input for _, case in _described(matrix, keys, store) if isinstance(case.input, str)}
    # redacted whole: half a secret looks like none
    return {key: one_line(redact(text), ASKS) for key, text in texts.items()}


def members_of(cases: dict[str, CaseFacts]) -> dict[str, list[str]]:
    """Category → its cases."""
    members: dict[str, list[str]] = {}
    for key, facts in cases.items():
        for category in facts.categories:
            members.setdefault(category, []).append(key)
    return members


def cases_in_category(cases: dict[str, CaseFacts], category: str) -> Sequence[str]:
    members = members_of(cases)
    if category in members:
        return members[category]
    hints = [did_you_mean(category, members), _listed(sorted(members))]
    raise NotFoundError(f"No category is named `{category}`", hint="\n".join(hint for hint in hints if hint))


def _described(matrix: Matrix, keys: Iterable[str], store: Store) -> Iterator[tuple[Run, Case]]:
    """Each case once, from the first run whose log describes it."""
    wanted = set(keys)
    whole = len(wanted) == len(matrix.rows)
    for at, column in enumerate(matrix.columns):
        if not wanted:
            return
        for case in cases_of(store, column.pk) if whole and at == 0 else cases_named(store, column.pk, sorted(wanted)):
            if case.key in wanted:
                wanted.discard(case.key)
                yield column.run, case


def _facts(run: Run, case: Case) -> CaseFacts:
    categories = dict.fromkeys((case.category, *case.tags))
    return CaseFacts(case_name(run, case.key), tuple(one for one in categories if one))


def _listed(known: Sequence[str]) -> str:
    if not known:
        return "the logs of these runs name no categories"
    more = f" and {len(known) - LISTED} more" if len(known) > LISTED else ""
    return f"known are: {', '.join(known[:LISTED])}{more}"
