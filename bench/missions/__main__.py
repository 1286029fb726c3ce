"""`make bench-missions`: a data set per mission, by authors who wrote the truth first and did not know the rules.

Printed is how many owners, steps, error lines, clusters, knock-on failures and hidden passes are right; `--misses`
lists the others. docs/lab/missions.md quotes the first look.
"""

import argparse
import json
import re
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import measure

HERE = Path(__file__).parent
CLUSTERS = "conversation-bench"
"""The taxonomy of the provisional clusters."""
LETTERS = re.compile(r"[^A-Za-z0-9]+")
SAME = 60
"""Letters and digits that two error lines must share."""


class Figures:
    """Right of all, by what was compared, and what was wrong."""

    def __init__(self) -> None:
        self.of = ""
        """The data set that is compared."""
        self.counts: dict[str, list[int]] = {}
        self.misses: list[str] = []

    def count(self, name: str, right: bool, miss: str = "") -> None:
        name = f"{self.of}: {name}"
        pair = self.counts.setdefault(name, [0, 0])
        pair[0] += right
        pair[1] += 1
        if not right:
            self.misses.append(f"{name}: {miss}")

    def show(self, *, misses: bool) -> None:
        for name, (right, all_) in self.counts.items():
            print(f"{name:<32} {right:>3} of {all_:<3} {right / all_:.0%}")
        for miss in self.misses if misses else ():
            print("  " + miss)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="list what is wrong")
    parser.add_argument("--only", choices=SETS, help="one of the data sets")
    chosen = parser.parse_args()
    figures = Figures()
    for name, check in SETS.items() if not chosen.only else [(chosen.only, SETS[chosen.only])]:
        with tempfile.TemporaryDirectory(prefix="errata-missions-") as made:
            folder = Path(made)
            with tarfile.open(HERE / f"{name}.tar.xz") as archive:
                archive.extractall(folder, filter="data")
            truth = json.loads((HERE / "truth" / f"{name}.json").read_text("utf-8"))
            figures.of = name
            check(folder, truth, figures)
    figures.show(misses=chosen.misses)


def convex(folder: Path, truth: dict[str, Any], figures: Figures) -> None:
    for run in (name for name, facts in truth.items() if "failures" in facts and not name.endswith("-public")):
        failures = {row["case"]: row for row in failures_at(folder / "runs" / run, folder / "convex.db")}
        figures.count("failures listed", len(failures) == truth[run]["failed"], run)
        for case, wanted in truth[run]["failures"].items():
            row = failures.get(case, {})
            owner, step = row.get("owner"), next(iter(row.get("failed_checks", ())), None)
            count_owner(figures, owner, wanted, f"{run} {case}")
            figures.count("first failed steps", step == wanted["step"], f"{run} {case}: {step}")
            line = row.get("reason") or ""
            figures.count("error lines", alike(line, wanted["error"]), f"{run} {case}: {line[:100]}")


def conversation(folder: Path, truth: dict[str, Any], figures: Figures) -> None:
    for run, facts in truth["runs"].items():
        rows = failures_at(folder / "runs/workshop_bench" / run, folder / "conversation.db")
        failures = {int(row["case"].removeprefix("turn-")): row for row in rows}
        followers = sorted(turn for turn, row in failures.items() if row["follows"])
        figures.count("knock-on failures", followers == facts["followers"], f"{run}: {followers}")
        for wanted in (row for row in truth["rows"] if row["run"] == run):
            row, place = failures.get(wanted["turn"], {}), f"{run} turn {wanted['turn']}"
            owner = row.get("owner")
            figures.count("owners", owner == wanted["owner"], f"{place}: {owner}, not {wanted['owner']}")
            if wanted["cluster_test_row"]:
                cluster = row.get("suggested_labels", {}).get(CLUSTERS, "")
                same = LETTERS.sub("_", cluster) == wanted["cluster"]
                figures.count("clusters", same, f"{place}: {cluster}, not {wanted['cluster']}")


def scylla(folder: Path, truth: dict[str, Any], figures: Figures) -> None:
    for batch, facts in truth.items():
        store = folder / f"{batch}.db"
        failures = {row["case"]: row for row in failures_at(folder / batch, store)}
        for test, wanted in facts["failures"].items():
            owner = failures.get(test, {}).get("owner")
            count_owner(figures, owner, wanted, test)
        timeline = next(rows_of("sessions", folder / batch, store))
        hidden = {change["case"].rpartition("/")[2] for change in timeline["changes"] if change["was"] == "pass"}
        figures.count("hidden passes", hidden == set(facts["hidden_passes"]), f"{batch}: {sorted(hidden)}")


def count_owner(figures: Figures, owner: str | None, wanted: dict[str, Any], place: str) -> None:
    figures.count("owners", owner == wanted["owner"], f"{place}: {owner}, not {wanted['owner']}")
    accepted = (wanted["owner"], *wanted.get("acceptable", ()))
    figures.count("owners, or one as good", owner in accepted, f"{place}: {owner}, not {accepted}")


def failures_at(log: Path, store: Path) -> list[dict[str, Any]]:
    measure.run(measure.errata("import", log, "--store", store))
    return list(rows_of("failures", log, store))


def rows_of(command: str, log: Path, store: Path) -> Iterator[dict[str, Any]]:
    _, printed = measure.run_and_listen(measure.errata(command, log, "--store", store, "--json"))
    yield from (json.loads(line) for line in printed.splitlines())


def alike(line: str, wanted: str) -> bool:
    short, long = LETTERS.sub(" ", line).strip()[:SAME], LETTERS.sub(" ", wanted)
    return bool(short) and short in long


SETS = {"convex": convex, "convex-2": convex, "conversation": conversation, "scylla": scylla, "scylla-2": scylla}
"""Data sets, and what compares each with its truth."""


if __name__ == "__main__":
    main()
