"""`make bench-real`: errata's owners beside the readers', for the sets that rules may see and for those held out."""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from bench.real.answers import Answer, answers
from bench.real.examples import write_examples
from bench.real.labels import INFRASTRUCTURE, Item, Label, kappa, read_items, read_labels
from errata.compare.intervals import wilson

CLAIMED = ("grader", "task")


class Table:
    """The figures of one part of the items."""

    def __init__(self, name: str, rows: list[tuple[Item, Label, Answer]]) -> None:
        self._name = name
        self.failures = [row for row in rows if row[0].kind == "failure" and row[2].owner != "unread"]
        self._unread = [row for row in rows if row[2].owner == "unread"]
        self._passes = [row for row in rows if row[0].kind == "pass" and row[2].owner != "unread"]

    def print(self) -> None:
        labels = [label for _, label, _ in (*self.failures, *self._passes, *self._unread)]
        agreed = sum(label.agreed for label in labels)
        print(f"\n{self._name}: {len(self.failures)} failures, {len(self._passes)} passes", end="")
        print(f" ({len(self._unread)} more are not read yet)" if self._unread else "")
        print(f"  readers agree on {_share(agreed, len(labels))}, kappa {kappa(labels):.2f}")
        self._owners()
        self._passes_seen()

    def _owners(self) -> None:
        self._precision("infrastructure, where claimed", _claims(*INFRASTRUCTURE), _owns(*INFRASTRUCTURE), "0.98")
        is_found = [
            answer.owner in INFRASTRUCTURE for _, label, answer in self.failures if label.owner in INFRASTRUCTURE
        ]
        _figure("infrastructure, found", sum(is_found), len(is_found), "0.85")
        self._precision("model, shown", _is_shown, _owns("model"), "0.90")
        self._precision("model, presumed", _is_presumed, _owns("model"), "")
        for owner in CLAIMED:
            self._precision(f"{owner}, where claimed", _claims(owner), _owns(owner), "0.90")
        certain = [(label, answer) for _, label, answer in self.failures if answer.confidence == "certain"]
        _figure("certain", sum(label.owner == answer.owner for label, answer in certain), len(certain), "0.99")
        unknown = sum(answer.owner == "unknown" for _, _, answer in self.failures)
        _figure("unknown (at most 0.15)", unknown, len(self.failures), "")
        every = sum(label.owner == answer.owner for _, label, answer in self.failures)
        _figure("owner right, of all", every, len(self.failures), "")
        coverable = [answer for item, label, answer in self.failures if self._can_be_shown(item, label)]
        _figure(
            "model's, passed elsewhere or self-evident: shown", sum(map(_is_shown, coverable)), len(coverable), "0.80"
        )

    def _can_be_shown(self, item: Item, label: Label) -> bool:
        return label.owner == "model" and (label.is_self_evident or item.passed_elsewhere)

    def _precision(self, name: str, claims: Callable[[Answer], bool], holds: Callable[[Label], bool], aim: str) -> None:
        claimed = [holds(label) for _, label, answer in self.failures if claims(answer)]
        _figure(name, sum(claimed), len(claimed), aim)

    def _passes_seen(self) -> None:
        empty = [bool(answer.suspicions) for _, label, answer in self._passes if label.owner not in ("-", "unknown")]
        sound = [bool(answer.suspicions) for _, label, answer in self._passes if label.owner == "-"]
        _figure("passes that mean nothing: suspicious", sum(empty), len(empty), "")
        _figure("sound passes: suspicious", sum(sound), len(sound), "")


def _is_shown(answer: Answer) -> bool:
    return answer.owner == "model" and answer.proof == "shown"


def _is_presumed(answer: Answer) -> bool:
    return answer.owner == "model" and answer.proof != "shown"


def _claims(*owners: str) -> Callable[[Answer], bool]:
    return lambda answer: answer.owner in owners


def _owns(*owners: str) -> Callable[[Label], bool]:
    return lambda label: label.owner in owners


def _figure(name: str, part: int, whole: int, aim: str) -> None:
    if not whole:
        print(f"  {name:<52} –")
        return
    interval = wilson(part, whole)
    assert interval is not None
    low, high = interval
    wanted = f"   aim {aim}" if aim else ""
    print(f"  {name:<52} {part / whole:.2f}  ({part} of {whole}; {low:.2f}–{high:.2f}){wanted}")


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / max(whole, 1):.0f} %)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", action="store_true", help="how often each rule decided, and how often it was right")
    parser.add_argument("--seen", action="store_true", help="without the held-out sets")
    parser.add_argument("--only", metavar="SET", help="analyse this set alone")
    parser.add_argument("--examples", action="store_true", help="write the table of labelled examples of each rule")
    parser.add_argument("--wrong", metavar="SET", help="list the wrong answers of one set; not for held-out sets")
    parser.add_argument("--write", type=Path, help="write every answer as JSON lines")
    chosen = parser.parse_args()
    labels, items = read_labels(), read_items()
    items = [item for item in items if item.id in labels and chosen.only in (None, item.set)]
    items = [item for item in items if not (chosen.seen and item.held_out)]
    with tempfile.TemporaryDirectory(prefix="errata-real-") as folder:
        by_item = answers(items, Path(folder))
    rows = [(item, labels[item.id], by_item[item.id]) for item in items]
    Table("may be seen while rules are written", [row for row in rows if not row[0].held_out]).print()
    if not chosen.seen:
        Table("held out", [row for row in rows if row[0].held_out]).print()
    if chosen.rules:
        _by_rule(rows)
    if chosen.examples:
        write_examples(rows)
    if chosen.wrong:
        _wrong([row for row in rows if row[0].set == chosen.wrong])
    if chosen.write:
        lines = [json.dumps({"id": item.id, **answer._asdict()}) for item, _, answer in rows]
        chosen.write.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _by_rule(rows: list[tuple[Item, Label, Answer]]) -> None:
    decided, right = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for item, label, answer in rows:
        if item.kind == "failure" and answer.decided_by:
            decided[answer.decided_by, answer.confidence] += 1
            right[answer.decided_by, answer.confidence] += label.owner == answer.owner
    print("\nrule, how sure, right of all it decided")
    for (rule, confidence), often in decided.most_common():
        print(f"  {rule:<40} {confidence:<8} {right[rule, confidence]:>4} of {often}")


def _wrong(rows: list[tuple[Item, Label, Answer]]) -> None:
    if any(item.held_out for item, _, _ in rows):
        raise SystemExit("this set is held out: its failures are not looked at while rules are written")
    for item, label, answer in rows:
        if item.kind == "failure" and answer.owner != label.owner:
            print(f"{item.id}  {answer.owner} ({answer.decided_by}), readers: {label.owner}  {item.run} {item.case}")
            print(f"    {label.readers[-1].reason}\n    > {label.readers[-1].line[:160]}")


if __name__ == "__main__":
    main()
