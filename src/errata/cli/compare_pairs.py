"""Whether any two columns differ beyond chance, in a sentence or a line for each that does."""

from collections import Counter
from collections.abc import Sequence
from math import floor

from errata.cli.compare_names import CaseNames
from errata.cli.compare_runs import left_out_in_words
from errata.cli.output import plural, put
from errata.compare.comparison import Comparison
from errata.compare.pairs import ALPHA, Pairing, Tally

SHOWN = 10
FEW = 5
LITTLE = 0.1
"""A smaller part of all that failed is not worth a line."""


def put_pairs(comparison: Comparison, names: CaseNames) -> None:
    pairs = [one for one in comparison.pairings if one.all.shared]
    put()
    if not pairs:
        put(f"No two of them were measured on the same {names.word}")
        return
    differing = sorted((one for one in pairs if one.all.differs), key=lambda one: one.all.p)
    if differing:
        _put_differing(differing, len(pairs), comparison, names)
    else:
        put(_no_difference(pairs, comparison, names), hang=0)
    _put_shares(pairs, names)
    _put_shared_part(comparison, names)


def _put_shares(pairs: Sequence[Pairing], names: CaseNames) -> None:
    """What McNemar's test can't use: cases that one of two passes in some attempts only."""
    told = [(one, one.shares, one.shares.interval) for one in pairs if one.shares is not None]
    apart = [
        f"{one.first} against {one.second} {100 * shares.mean:+.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        for one, shares, (low, high) in ((one, shares, between or (0.0, 0.0)) for one, shares, between in told)
        if low > 0 or high < 0
    ]
    if told:
        found = f": {'; '.join(apart[:SHOWN])}" if apart else ", no pair differs"
        put(f"Every attempt counted (paired bootstrap over {names.word}s){found}.", hang=0)


def _put_shared_part(comparison: Comparison, names: CaseNames) -> None:
    """How much of all that failed is what everybody fails."""
    runs, shared = len(comparison.matrix.columns), comparison.sets.failed_by_all.runs
    failed = sum(cell is not None and cell.failed for row in comparison.matrix.rows.values() for cell in row)
    part = len(shared) * runs
    if not LITTLE * failed < part < failed:
        return
    if names.numbered and len(shared) <= FEW:
        told, verb = names.told(shared), "is" if len(shared) == 1 else "are"
        put(f"{told[0].upper()}{told[1:]} alone {verb} {part:,} of the {failed:,} failed rows.")
    else:
        put(f"What all runs fail ({plural(len(shared), names.word)}) makes {part:,} of the {failed:,} failed rows.")


def _no_difference(pairs: Sequence[Pairing], comparison: Comparison, names: CaseNames) -> str:
    smallest = min(pairs, key=lambda one: one.all.p)
    least, adjusted = smallest.all.p, smallest.all.adjusted
    if not any(one.all.only_first_fails or one.all.only_second_fails for one in pairs):
        return f"No difference at all: on every {names.word} that two of them were measured on, they agree."
    if len(pairs) == 1:
        shared = f"{smallest.all.shared:,} shared {names.word}s"
        return f"No difference beyond chance: exact McNemar on {shared}, {_told(smallest, comparison, '')}."
    head = f"exact McNemar on shared {names.word}s gives "
    gives = (
        f"p {'≥' if least < 1 else '='} {floor(100 * least) / 100:.2f} for all {len(pairs)} pairs"
        if least >= ALPHA
        else f"p = {least:.2g} at least, {adjusted:.2g} as one of {len(pairs)} tests (Holm)"
    )
    told = f"smallest: {smallest.first} against {smallest.second}, {_told(smallest, comparison, names.word + 's ')}"
    return f"No pair differs beyond chance: {head}{gives} ({told})."


def _put_differing(differing: Sequence[Pairing], pairs: int, comparison: Comparison, names: CaseNames) -> None:
    many = f"{len(differing)} of {pairs} pairs differ" if pairs > 1 else "They differ"
    put(f"{many} beyond chance (exact McNemar on shared {names.word}s{', Holm' if pairs > 1 else ''}):")
    for one in differing[:SHOWN]:
        put(f"  {one.first} against {one.second}: {_told(one, comparison, names.word + 's ')}", hang=4)
    if len(differing) > SHOWN:
        put(f"  and {len(differing) - SHOWN} more with --json")


def _told(one: Pairing, comparison: Comparison, what: str) -> str:
    every, clean = one.all, one.clean
    told = f"{_against(every)} {what}failed alone, p = {_p(every.p)}"
    if (clean.only_first_fails, clean.only_second_fails) == (every.only_first_fails, every.only_second_fails):
        return told
    return f"{told}; without {_what_is_out(one, comparison)} it is {_against(clean)}, p = {_p(clean.p)}"


def _what_is_out(pair: Pairing, comparison: Comparison) -> str:
    """`1 empty and 5 collateral`: what clean leaves out in either of the two."""
    words: Counter[str] = Counter()
    for at, one in enumerate(comparison.columns):
        if one.label in (pair.first, pair.second):
            rows = comparison.shown.rows.items()
            failed = {case for case, row in rows if (cell := row[at]) is not None and cell.failed}
            words.update(left_out_in_words(one.scores["clean"], failed))
    told = [f"{count} {word}" for word, count in words.items()]
    return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told) or "earlier sessions' results"


def _against(tally: Tally) -> str:
    return f"{tally.only_first_fails:,} against {tally.only_second_fails:,}"


def _p(value: float) -> str:
    # 0.625 is 0.63 to people
    return f"{floor(100 * value + 0.5) / 100:.2f}" if value >= 0.01 else f"{value:.1g}"
