"""`make bench-quotes`: misleading quotes in ten languages and in code, and honest ones from the samples.

A quote is kept as the whole lines that it is in. Printed are how many misleading quotes are kept as they are, and how
many honest ones are refused, by language and form, and with `--show` those.
"""

import argparse
from collections import Counter

from bench.quotes.honest import honest
from bench.quotes.misleading import Case, fresh, misleading
from errata.model import Packet, PacketPlace, Question, Quote
from errata.review.evidence import CheckedQuotes, PlaceIndex, check_quotes

COUNT, SEED = 1_000, 7
PLACE = "run.log"
FLOOR = 0.99
"""Of the honest quotes that are accepted; of the misleading ones none may be."""


def reasons(case: Case) -> tuple[str, ...]:
    """None if the quote is accepted."""
    return _checked(case).reasons


def misleads(case: Case) -> bool:
    """Whether it is accepted and kept without the rest of its lines."""
    for quote in _checked(case).quotes:
        first, last = quote.lines or (1, 0)
        if quote.quote.strip() != "\n".join(case.text.split("\n")[first - 1 : last]).strip():
            return True
    return False


def _checked(case: Case) -> CheckedQuotes:
    place = PacketPlace(place=PLACE, source="", text=case.text)
    packet = Packet(
        id="p",
        run={},
        case_key="suite/case",
        attempt=1,
        attempt_id="run:suite/case#1",
        facts={},
        question=Question(taxonomy="owners", labels=(), rule=""),
        places=(place,),
    )
    return check_quotes([Quote(place=PLACE, quote=case.quote)], PlaceIndex(packet))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print up to N quotes that are judged wrongly")
    chosen = parser.parse_args()
    false, true = misleading(chosen.count, chosen.seed), honest(chosen.count, chosen.seed)
    accepted = [case for case in false if misleads(case)]
    refused = [case for case in true if reasons(case)]
    print(f"misleading quotes accepted: {len(accepted)} of {len(false):,}")
    _by_form(false, accepted)
    late = fresh()
    accepted += (passed := [case for case in late if misleads(case)])
    print(f"misleading quotes written after the rules accepted: {len(passed)} of {len(late)}")
    print(f"honest quotes accepted: {len(true) - len(refused)} of {len(true):,}")
    _by_form(true, refused, "refused")
    for case in (accepted + refused)[: chosen.show]:
        print(f"\n{case.language}, {case.form}: {case.quote!r}\n  in {case.text!r}\n  {' | '.join(reasons(case))}")
    return 0 if not accepted and len(refused) <= (1 - FLOOR) * len(true) else 1


def _by_form(cases: list[Case], wrong: list[Case], word: str = "accepted") -> None:
    for name in ("language", "form"):
        every, bad = (Counter(getattr(case, name) for case in some) for some in (cases, wrong))
        counts = ", ".join(f"{key} {bad[key]}/{count}" for key, count in sorted(every.items()))
        print(f"  {word} by {'sample' if word == 'refused' and name == 'language' else name}: {counts}")


if __name__ == "__main__":
    raise SystemExit(main())
