"""The measurement in words and tables, and as JSON."""

from typing import Any

import msgspec

from bench.triage.measures import OWNERS, Rates, TriageScores, measure
from bench.triage.samples import FIELD_HARNESSES, HARNESSES
from bench.triage.templates import HELD_OUT_HARNESSES, decoys, faults, fresh_decoys, fresh_faults, part_of
from bench.triage.trying import NO_FAILURE, Tried

AIMS = "model precision ≥ 0.98, recall ≥ 0.95; no decoy misread; macro F1 ≥ 0.90"
TITLES = {
    "labels": "labels: failures of the samples, with the owner that their expectations give",
    "tune": "tune: shown while rules were written",
    "held-out": "held-out: by name only; its totals were known when some rules were written",
    "fresh": "fresh: written apart from the rules; since its first measurement the names of its misses are known",
    "field": "field: the fresh texts in the logs of the newer sources, and these harnesses' own words for an ending",
}
SHOWN = ("labels", "tune")
"""Parts whose texts may be printed."""
ANSWERS = (*OWNERS, "unknown", NO_FAILURE)


def print_split() -> None:
    names = [template.name for template in (*faults(), *decoys())]
    tune = sum(part_of(name, "") == "tune" for name in names)
    split = f"{len(names)} templates, by a hash of their names: {tune} to tune on, {len(names) - tune} held out"
    print(f"split: {split}; held out whole: {', '.join(HELD_OUT_HARNESSES)}")
    print(f"fresh: {len(fresh_faults())} faults and {len(fresh_decoys())} decoys, written apart from the rules\n")


def print_part(part: str, tried: list[Tried], *, misses: bool) -> None:
    """Totals, tables and misses. What is not shown for tuning is listed by name, and never quoted."""
    measured = measure(tried)
    print(f"== {TITLES[part]} ==\n{measured.samples} failures with a known owner")
    _totals(measured)
    _owners(measured)
    _harnesses(tried)
    _confusion(measured)
    _misses(tried, shown=misses or part not in SHOWN, texts=part in SHOWN)
    print()


def as_json(part: str, tried: list[Tried]) -> dict[str, Any]:
    groups = _by_harness(tried)
    return {
        "part": part,
        **msgspec.to_builtins(measure(tried)),
        "harnesses": {name: msgspec.to_builtins(measure(group)) for name, group in groups.items()},
        "misses": [_miss(one, texts=part in SHOWN) for one in tried if not one.right],
    }


def _totals(measured: TriageScores) -> None:
    print(f"right      {measured.right}/{measured.samples} = {measured.right / max(1, measured.samples):.3f}")
    print(f"coverage   {measured.coverage:.3f}   (not `unknown`)")
    print(f"model      {_rated(measured.model)}")
    print(f"not model  {_rated(measured.not_model)}")
    print(f"macro F1   {measured.macro_f1:.3f}   over {len(measured.owners)} owners   (aims: {AIMS})")
    if measured.decoys or measured.twins:
        decoys = f"decoys misread {measured.decoys_misread}/{measured.decoys}"
        print(f"controls   {decoys}, untouched twins misread {measured.twins_misread}/{measured.twins}")
    if measured.seconds:
        print(f"second     owner named {measured.seconds_found}/{measured.seconds}")


def _owners(measured: TriageScores) -> None:
    print("\nowner         precision recall   F1     n")
    for owner, rates in measured.owners.items():
        numbers = f"{_number(rates.precision):>9} {_number(rates.recall):>6} {_number(rates.f1):>5} {rates.support:>5}"
        print(f"{owner:<13} {numbers}")


def _harnesses(tried: list[Tried]) -> None:
    print("\nharness             right        model P / R      not-model P / R  macro F1  decoys misread")
    for name, group in _by_harness(tried).items():
        scores = measure(group)
        right = f"{scores.right}/{scores.samples}"
        model = f"{_number(scores.model.precision)} / {_number(scores.model.recall)}"
        other = f"{_number(scores.not_model.precision)} / {_number(scores.not_model.recall)}"
        print(
            f"{name:<19} {right:<12} {model:<16} {other:<16} {scores.macro_f1:>8.2f}  "
            f"{scores.decoys_misread}/{scores.decoys}"
        )


def _confusion(measured: TriageScores) -> None:
    columns = [word for word in ANSWERS if any(word in row for row in measured.confusion.values())]
    print("\ntrue ↓ pred. →".ljust(15) + "".join(f"{word[:11]:>12}" for word in columns))
    for true in OWNERS:
        if true in measured.confusion:
            row = measured.confusion[true]
            print(f"{true:<14}" + "".join(f"{row.get(word, 0) or '·':>12}" for word in columns))


def _misses(tried: list[Tried], *, shown: bool, texts: bool) -> None:
    missed = [one for one in tried if not one.right]
    listed = [one for one in missed if one.sample.unsure or shown]
    print(f"\nmisses: {len(missed)}{'' if len(listed) == len(missed) else '   (--misses lists them all)'}")
    for miss in listed:
        needs = f" (no log shows it: needs {miss.sample.unsure})" if miss.sample.unsure else ""
        print(f"  {miss.sample.name}: {miss.sample.owner}, predicted {miss.owner}{needs}")
        if texts and shown:
            print(f"      by `{miss.decided_by}`: {miss.quote[:110]}")


def _miss(tried: Tried, *, texts: bool) -> dict[str, Any]:
    row = {"sample": tried.sample.name, "owner": tried.sample.owner, "said": tried.owner}
    if tried.sample.unsure:
        row["needs"] = tried.sample.unsure
    return row | ({"decided_by": tried.decided_by, "quote": tried.quote} if texts else {})


def _by_harness(tried: list[Tried]) -> dict[str, list[Tried]]:
    groups = {
        harness.name: [one for one in tried if one.sample.harness == harness.name]
        for harness in (*HARNESSES, *FIELD_HARNESSES)
    }
    return {name: group for name, group in groups.items() if group}


def _rated(rates: Rates) -> str:
    return f"precision {_number(rates.precision)}, recall {_number(rates.recall)}   (n = {rates.support})"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
