"""`make bench-missions`: a data set per mission, by authors who wrote the truth first and did not know the rules.

Printed is how many owners, steps, error lines, clusters, knock-on failures, sessions, hidden results, repeats and
actions are right; `--misses` lists the others. docs/lab/missions.md quotes the first look.
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
REPORTS = HERE.parent.parent / "tests/fixtures/memory/blind/a/reports"
"""Of the author of `convex`, who also wrote the report on its first run."""
CLUSTERS = "conversation-bench"
"""The taxonomy of the provisional clusters."""
LETTERS = re.compile(r"[^A-Za-z0-9]+")
EARLIER = re.compile(r"turn (\d+) of an earlier session")
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
                archive.extractall(folder)  # an archive of this repository
            truth = json.loads((HERE / "truth" / f"{name}.json").read_text("utf-8"))
            figures.of = name
            check(folder, truth, figures)
    figures.show(misses=chosen.misses)


def convex(folder: Path, truth: dict[str, Any], figures: Figures) -> None:
    runs = [name for name, facts in truth.items() if "failures" in facts and not name.endswith("-public")]
    store = folder / "convex.db"
    for run in runs:
        failures = {row["case"]: row for row in failures_at(folder / "runs" / run, store)}
        figures.count("failures listed", len(failures) == truth[run]["failed"], run)
        for case, wanted in truth[run]["failures"].items():
            row = failures.get(case, {})
            owner, step = row.get("owner"), next(iter(row.get("failed_checks", ())), None)
            count_owner(figures, owner, wanted, f"{run} {case}")
            figures.count("first failed steps", step == wanted["step"], f"{run} {case}: {step}")
            line = row.get("reason") or ""
            figures.count("error lines", alike(line, wanted["error"]), f"{run} {case}: {line[:100]}")
            count_follower(figures, row, wanted, f"{run} {case}")
    for run in runs[1:]:
        of_same_model = truth if run == truth.get("later_run") else {}
        rows = rows_of("failures", folder / "runs" / run, store, "--reports", REPORTS)
        failures = {row["case"]: row["before"] for row in rows}
        for case, before in failures.items():
            wanted = next(
                (kind for kind in ("repeats", "failed_before_differently") if case in of_same_model.get(kind, ())),
                "new",
            )
            kind = (
                "repeats"
                if before["is_repeat"]
                else "failed_before_differently"
                if before["failed_otherwise"]
                else "new"
            )
            figures.count("repeats", kind == wanted, f"{run} {case}: {kind}, not {wanted}")
        returned = {case for case, before in failures.items() if before["should_be_gone"]}
        for action in of_same_model.get("actions", ()):
            came_back = returned.intersection(action["evals"])
            figures.count("actions", came_back == set(action["came_back"]), f"{action['what']}: {sorted(came_back)}")
            returned -= came_back
        figures.count("runs without a false repeat of an action", not returned, f"{run}: {sorted(returned)}")


def conversation(folder: Path, truth: dict[str, Any], figures: Figures) -> None:
    store, logs = folder / "conversation.db", folder / "runs/workshop_bench"
    for run, facts in truth["runs"].items():
        rows = failures_at(logs / run, store)
        failures = {int(row["case"].removeprefix("turn-")): row for row in rows}
        followers = sorted(turn for turn, row in failures.items() if row["follows"])
        figures.count("knock-on failures", followers == facts["followers"], f"{run}: {followers}")
        hidden = facts.get("hidden_first_session", {}).get("turns", [])
        items, named = hidden_turns(logs / run, store)
        is_right = items == len(hidden) and set(named) <= set(hidden)
        figures.count("hidden sessions", is_right, f"{run}: {items} rows, among them {named}")
        for wanted in (row for row in truth["rows"] if row["run"] == run):
            row, place = failures.get(wanted["turn"], {}), f"{run} turn {wanted['turn']}"
            owner = row.get("owner")
            figures.count("owners", owner == wanted["owner"], f"{place}: {owner}, not {wanted['owner']}")
            if wanted["cluster_test_row"]:
                cluster = row.get("suggested_labels", {}).get(CLUSTERS, "")
                same = LETTERS.sub("_", cluster) == wanted["cluster"]
                figures.count("clusters", same, f"{place}: {cluster}, not {wanted['cluster']}")
    count_shared_turns(logs, store, truth, figures)


def hidden_turns(log: Path, store: Path) -> tuple[int, list[int]]:
    """How many rows belong to an earlier session, and the turns of those that are shown."""
    findings = next(rows_of("analyze", log, store, "--no-report"))["findings"]
    quotes = [one["quote"] for finding in findings for one in finding["evidence"]]
    named = [int(match[1]) for quote in quotes if (match := EARLIER.match(quote))]
    items = [finding["numbers"]["items"] for finding in findings if finding["name"] == "unreadable"]
    return (sum(items) if named else 0), named


def count_shared_turns(logs: Path, store: Path, truth: dict[str, Any], figures: Figures) -> None:
    """Turns that all models fail, that one alone fails, and that one alone passes.

    The author counts a turn without a row as not failed; errata leaves out turns without a result in another model.
    """
    first, *others = (logs / run for run in truth["runs"])
    comparison = next(rows_of("compare", first, store, *others))
    turns = {facts["model"]: {*facts["missing_turns"], *facts["unjudged_turns"]} for facts in truth["runs"].values()}
    models = comparison["unique"]["models"]
    by_all = numbers(comparison["failed_by_all"]["models_in_some_run"])
    figures.count("turns that several models fail", by_all == truth["failed_by_all"], f"by all: {by_all}")
    for kind, wanted in (("fails", truth["unique_fail"]), ("passes", truth["unique_pass"])):
        for model, all_of_them in wanted.items():
            elsewhere = {turn for other, without in turns.items() if other != model for turn in without}
            measured = [turn for turn in all_of_them if turn not in elsewhere]
            alone = numbers(models[kind][model])
            figures.count("turns that several models fail", alone == measured, f"{model} alone {kind}: {alone}")


def numbers(cases: list[str]) -> list[int]:
    return sorted(int(case.removeprefix("turn-")) for case in cases)


def scylla(folder: Path, truth: dict[str, Any], figures: Figures) -> None:
    for batch, facts in truth.items():
        store = folder / f"{batch}.db"
        failures = {row["case"]: row for row in failures_at(folder / batch, store)}
        for test, wanted in facts["failures"].items():
            row = failures.get(test, {})
            count_owner(figures, row.get("owner"), wanted, test)
            count_follower(figures, row, wanted, test)
        timeline = next(rows_of("sessions", folder / batch, store))
        hidden = {change["case"].rpartition("/")[2] for change in timeline["changes"] if change["was"] == "pass"}
        figures.count("hidden passes", hidden == set(facts["hidden_passes"]), f"{batch}: {sorted(hidden)}")
        sizes = [session["tried"] for session in timeline["sessions"]]
        wanted_sizes = [session["tests"] for session in facts["sessions"]]
        is_right = sizes == wanted_sizes if all(wanted_sizes) else len(sizes) == len(wanted_sizes)
        figures.count("sessions", is_right, f"{batch}: {sizes}, not {wanted_sizes}")


def count_follower(figures: Figures, row: dict[str, Any], wanted: dict[str, Any], place: str) -> None:
    """The case that a failure only follows from, or none."""
    root = (row.get("follows") or "").partition(":")[2].partition("#")[0].partition("/")[2] or None
    figures.count("knock-on failures", root == wanted.get("root"), f"{place}: {root}, not {wanted.get('root')}")


def count_owner(figures: Figures, owner: str | None, wanted: dict[str, Any], place: str) -> None:
    figures.count("owners", owner == wanted["owner"], f"{place}: {owner}, not {wanted['owner']}")
    accepted = (wanted["owner"], *wanted.get("acceptable", ()))
    figures.count("owners, or one as good", owner in accepted, f"{place}: {owner}, not {accepted}")


def failures_at(log: Path, store: Path) -> list[dict[str, Any]]:
    measure.run(measure.errata("import", log, "--store", store))
    return list(rows_of("failures", log, store))


def rows_of(command: str, log: Path, store: Path, *more: str | Path) -> Iterator[dict[str, Any]]:
    _, printed = measure.run_and_listen(measure.errata(command, log, *more, "--store", store, "--json"))
    yield from (json.loads(line) for line in printed.splitlines())


def alike(line: str, wanted: str) -> bool:
    short, long = LETTERS.sub(" ", line).strip()[:SAME], LETTERS.sub(" ", wanted)
    return bool(short) and short in long


SETS = {
    "convex": convex,
    "convex-2": convex,
    "convex-3": convex,
    "convex-4": convex,
    "conversation": conversation,
    "scylla": scylla,
    "scylla-2": scylla,
    "scylla-3": scylla,
    "scylla-4": scylla,
}
"""Data sets, and what compares each with its truth."""


if __name__ == "__main__":
    main()
