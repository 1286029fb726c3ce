"""`make bench-suspects`: the list of suspect tasks on generated results of twelve subjects with planted faults.

Printed are precision (how many of the listed tasks are broken) by strength of the evidence, recall by planted fault,
and which kinds of evidence named broken and fair tasks.
"""

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import msgspec

from bench import measure
from bench.suspects.attempts import REFERENCE, SUBJECTS, records_of
from bench.suspects.tasks import BROKEN, LEGACY, Task, make_tasks
from errata.model.suspects import SuspectTask, SuspectTasks
from errata.sources.errata_jsonl.lines import write_lines

SEEDS = (1, 2, 3)
LEVELS = (("likely",), ("likely", "weak"), ("likely", "weak", "counts"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="*", default=SEEDS)
    parser.add_argument("--keep", type=Path, help="write the logs and the store here")
    chosen = parser.parse_args()
    results = []
    for seed in chosen.seeds:
        with tempfile.TemporaryDirectory(prefix="errata-suspects-") as made:
            folder = chosen.keep / str(seed) if chosen.keep else Path(made)
            folder.mkdir(parents=True, exist_ok=True)
            results.append((make_tasks(seed), suspects_in(folder, seed)))
    report(results)


def suspects_in(folder: Path, seed: int) -> SuspectTasks:
    """As `errata review tasks --json` lists them after an import."""
    logs, store = folder / "logs", folder / "suspects.db"
    logs.mkdir(exist_ok=True)
    for subject in (*SUBJECTS, REFERENCE):
        (logs / f"{subject}.jsonl").write_bytes(b"".join(write_lines(records_of(subject, seed))))
    measure.run(measure.errata("import", logs, "--store", store))
    _, listed = measure.run_and_listen(measure.errata("review", "tasks", "latest", "--json", "--store", store))
    return msgspec.json.decode(listed, type=SuspectTasks)


def report(results: list[tuple[list[Task], SuspectTasks]]) -> None:
    tasks = {(at, task.name): task for at, (every, _) in enumerate(results) for task in every}
    listed = {(at, one.case): one for at, (_, suspects) in enumerate(results) for one in suspects.tasks}
    broken = sum(task.is_broken for task in tasks.values())
    hard = sum(task.fault == "hard" for task in tasks.values())
    print(f"{len(tasks):,} tasks in {len(results)} suites, {len(SUBJECTS)} subjects; {broken} broken, {hard} too hard")
    for level in LEVELS:
        named = {key for key, one in listed.items() if one.strength in level}
        right = sum(tasks[key].is_broken for key in named)
        print(
            f"  {' + '.join(level):<22} precision {right}/{len(named)} = {right / max(len(named), 1):.1%}   "
            f"recall {right}/{broken} = {right / broken:.1%}"
        )
    _by_fault(tasks, listed)
    _by_evidence(tasks, listed)
    for at, (_, suspects) in enumerate(results):
        names = [f"{each.name} ({each.failed_by_all}, {each.expected:.1f} expected)" for each in suspects.categories]
        print(f"  suite {at + 1}: categories named: {', '.join(names) or 'none'}; planted in {LEGACY}")


def _by_fault(tasks: dict[tuple[int, str], Task], listed: dict[tuple[int, str], SuspectTask]) -> None:
    print("  planted fault          tasks   likely   weak   counts   not listed")
    for fault in (*BROKEN, "hard", ""):
        keys = [key for key, task in tasks.items() if task.fault == fault]
        strengths = Counter(listed[key].strength if key in listed else "not listed" for key in keys)
        counted = f"{strengths['likely']:>8} {strengths['weak']:>6} {strengths['counts']:>8}"
        print(f"  {fault or 'fair':<20} {len(keys):>7} {counted} {strengths['not listed']:>12}")


def _by_evidence(tasks: dict[tuple[int, str], Task], listed: dict[tuple[int, str], SuspectTask]) -> None:
    print("  evidence               broken   fair")
    counts: dict[str, Counter[bool]] = {}
    for key, suspect in listed.items():
        for kind in [f"{each.kind} ({each.strength})" for each in suspect.evidence] or ["only the counts"]:
            counts.setdefault(kind, Counter())[tasks[key].is_broken] += 1
    for kind, count in sorted(counts.items()):
        print(f"  {kind:<26} {count[True]:>4} {count[False]:>6}")


if __name__ == "__main__":
    main()
