"""`make bench-real`: errata's owners beside the readers', for the sets that rules may see and for those held out."""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from math import nan
from pathlib import Path

from bench.real.answers import Answer, answers
from bench.real.by_log import in_words, interval_by_log, share
from bench.real.examples import write_examples
from bench.real.labels import INFRASTRUCTURE, Item, Label, kappa, read_items, read_labels
from errata.review.agreement import cohen_kappa

CLAIMED = ("grader", "task")


Row = tuple[Item, Label, Answer]


class Table:
    """The figures of one part of the items."""

    def __init__(self, name: str, rows: list[Row]) -> None:
        self._name = name
        self.failures = [row for row in rows if row[0].kind == "failure" and row[2].owner != "unread"]
        self._unread = [row for row in rows if row[2].owner == "unread"]
        self._passes = [row for row in rows if row[0].kind == "pass" and row[2].owner != "unread"]

    def print(self) -> None:
        """Kappa comes first: a share over all rows is mostly one of the log with the most rows."""
        labels = [label for _, label, _ in (*self.failures, *self._passes, *self._unread)]
        agreed = sum(label.agreed for label in labels)
        print(f"\n{self._name}: {len(self.failures)} failures, {len(self._passes)} passes", end="")
        print(f" ({len(self._unread)} more are not read yet)" if self._unread else "")
        self._kappa("owner: kappa with the readers", lambda owner: owner)
        self._kappa("model or not: kappa with the readers", lambda owner: str(owner == "model"))
        print(f"  the readers themselves agree on {_share(agreed, len(labels))}, kappa {kappa(labels):.2f}")
        self._owners()
        self._passes_seen()

    def _kappa(self, name: str, word: Callable[[str], str]) -> None:
        pairs = [(item.sample, (word(label.owner), word(answer.owner))) for item, label, answer in self.failures]
        between = in_words(*interval_by_log(pairs, _kappa_of))
        print(f"  {name:<52} {_kappa_of([pair for _, pair in pairs]):.2f}  ({between})")

    def _owners(self) -> None:
        self._precision("infrastructure, where claimed", _claims(*INFRASTRUCTURE), _owns(*INFRASTRUCTURE), "0.98")
        infrastructure = [row for row in self.failures if row[1].owner in INFRASTRUCTURE]
        _figure("infrastructure, found", infrastructure, lambda row: row[2].owner in INFRASTRUCTURE, "0.85")
        self._precision("model, shown", _is_shown, _owns("model"), "0.90")
        self._precision("model, presumed", _is_presumed, _owns("model"), "")
        for owner in CLAIMED:
            self._precision(f"{owner}, where claimed", _claims(owner), _owns(owner), "0.90")
        certain = [row for row in self.failures if row[2].confidence == "certain"]
        _figure("certain", certain, _is_right, "0.99")
        _figure("unknown (at most 0.15)", self.failures, lambda row: row[2].owner == "unknown", "")
        _figure("owner right, of all", self.failures, _is_right, "")
        coverable = [row for row in self.failures if _can_be_shown(*row[:2])]
        name = "model's, passed elsewhere or self-evident: shown"
        _figure(name, coverable, lambda row: _is_shown(row[2]), "0.80")

    def _precision(self, name: str, claims: Callable[[Answer], bool], holds: Callable[[Label], bool], aim: str) -> None:
        _figure(name, [row for row in self.failures if claims(row[2])], lambda row: holds(row[1]), aim)

    def _passes_seen(self) -> None:
        empty = [row for row in self._passes if row[1].owner not in ("-", "unknown")]
        sound = [row for row in self._passes if row[1].owner == "-"]
        for name, rows in (("passes that mean nothing: suspicious", empty), ("sound passes: suspicious", sound)):
            _figure(name, rows, lambda row: bool(row[2].suspicions), "")


def _kappa_of(pairs: Sequence[tuple[str, str]]) -> float:
    agreement = cohen_kappa([first for first, _ in pairs], [second for _, second in pairs])
    return nan if agreement is None else agreement


def _can_be_shown(item: Item, label: Label) -> bool:
    return label.owner == "model" and (label.is_self_evident or item.passed_elsewhere)


def _is_right(row: Row) -> bool:
    return row[1].owner == row[2].owner


def _is_shown(answer: Answer) -> bool:
    return answer.owner == "model" and answer.proof == "shown"


def _is_presumed(answer: Answer) -> bool:
    return answer.owner == "model" and answer.proof != "shown"


def _claims(*owners: str) -> Callable[[Answer], bool]:
    return lambda answer: answer.owner in owners


def _owns(*owners: str) -> Callable[[Label], bool]:
    return lambda label: label.owner in owners


def _figure(name: str, rows: Sequence[Row], holds: Callable[[Row], bool], aim: str) -> None:
    if not rows:
        print(f"  {name:<52} –")
        return
    seen = [(row[0].sample, holds(row)) for row in rows]
    part, between = sum(held for _, held in seen), in_words(*interval_by_log(seen, share))
    wanted = f"   aim {aim}" if aim else ""
    print(f"  {name:<52} {part / len(seen):.2f}  ({part} of {len(seen)}; {between}){wanted}")


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


def _by_rule(rows: list[Row]) -> None:
    decided, right = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for item, label, answer in rows:
        if item.kind == "failure" and answer.decided_by:
            decided[answer.decided_by, answer.confidence] += 1
            right[answer.decided_by, answer.confidence] += label.owner == answer.owner
    print("\nrule, how sure, right of all it decided")
    for (rule, confidence), often in decided.most_common():
        print(f"  {rule:<40} {confidence:<8} {right[rule, confidence]:>4} of {often}")


def _wrong(rows: list[Row]) -> None:
    if any(item.held_out for item, _, _ in rows):
        raise SystemExit("this set is held out: its failures are not looked at while rules are written")
    for item, label, answer in rows:
        if item.kind == "failure" and answer.owner != label.owner:
            print(f"{item.id}  {answer.owner} ({answer.decided_by}), readers: {label.owner}  {item.run} {item.case}")
            print(f"    {label.readers[-1].reason}\n    > {label.readers[-1].line[:160]}")


if __name__ == "__main__":
    main()
