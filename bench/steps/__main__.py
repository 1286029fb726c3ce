"""`make bench-steps`: the share of failures whose decisive step the evidence log holds, beside a random choice.

Who&When: the mistake step that its authors marked; logs with odd numbers were used to write the rules, those with even
numbers were not. tau2-bench has no labels: `readings.toml` holds the steps that a reader called decisive.
"""

import argparse
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.real.answers import unpack
from bench.real.by_log import in_words, interval_by_log, share
from errata.model import Artefact, Attempt, Case, Run
from errata.sources import tau_bench, who_and_when
from errata.transcript.evidence_log import evidence_log

READINGS = Path(__file__).parent / "readings.toml"
FIRST = (1, 2, 3)
TAU2 = "gpt-4.1_airline_20"


class LabelledLog(NamedTuple):
    name: str
    flagged: tuple[int, ...]
    """The strongest first."""
    step: int
    agent: str
    """Empty where only the step was marked."""
    agents: dict[int, str]
    """Who speaks in each step."""
    file: str = ""

    def holds(self, most: int | None, away: int = 0) -> bool:
        return any(abs(flag - self.step) <= away for flag in self.flagged[:most])

    def by_chance(self, most: int | None, away: int = 0) -> float:
        """The chance that as many steps, drawn at random, hold the marked one or a neighbour."""
        total, drawn = len(self.agents), len(self.flagged[:most])
        near = sum(abs(index - self.step) <= away for index in self.agents)
        missed = 1.0
        for number in range(drawn):
            missed *= max(total - near - number, 0) / (total - number)
        return 1 - missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=Path, help="a folder with real/who_and_when and real/tau2_bench, unpacked")
    parser.add_argument("--each", action="store_true", help="list every log")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="errata-bench-") as scratch:
        folder = given.logs
        if folder is None:
            folder = Path(scratch)
            unpack(folder)
        marked = list(_who_and_when(folder / "real" / "who_and_when" / "Algorithm-Generated"))
        parts = {
            "Who&When, odd numbers (used for the rules)": [one for one in marked if int(one.name) % 2],
            "Who&When, even numbers (held out)": [one for one in marked if not int(one.name) % 2],
            f"tau2-bench, {TAU2} (held out)": list(_tau2(folder / "real" / "tau2_bench" / f"{TAU2}.json")),
        }
    for name, logs in parts.items():
        _print(name, logs, each=given.each)


def _print(name: str, logs: list[LabelledLog], *, each: bool) -> None:
    count = len(logs)
    flags = sum(len(log.flagged) for log in logs) / count
    steps = sum(len(log.agents) for log in logs) / count
    print(f"\n{name}: {count} failures, {steps:.1f} steps and {flags:.1f} flagged steps each")
    for most in (*FIRST, None):
        words = f"first {most}" if most else "all"
        for away in (0, 1):
            held = [(log.file, log.holds(most, away)) for log in logs]
            chance = sum(log.by_chance(most, away) for log in logs) / count
            number, between = sum(flag for _, flag in held), in_words(*interval_by_log(held, share))
            near = "within 1" if away else "exact"
            words_of_share = f"{number / count:4.0%} ({number} of {count}; {between})"
            print(f"  {words:<8} {near:<9} {words_of_share:<36} by chance {chance:.0%}")
    named = [log for log in logs if log.agent]
    if named:
        agents = sum(bool(log.flagged) and log.agents.get(log.flagged[0]) == log.agent for log in named)
        print(f"  the speaker of the first flag is the marked agent: {agents} of {len(named)}")
    if each:
        for log in logs:
            print(f"    {log.name:<6} marked {log.step:<4} flagged {', '.join(map(str, log.flagged))}")


def _who_and_when(folder: Path) -> Iterator[LabelledLog]:
    for attempt, case, context in _attempts(who_and_when.read(folder)):
        marked = attempt.extra["annotation"]
        yield _log(attempt.native_id, attempt, case, context, int(marked["mistake_step"]), marked["mistake_agent"])


def _tau2(path: Path) -> Iterator[LabelledLog]:
    readings = tomllib.loads(READINGS.read_text(encoding="utf-8"))[TAU2.replace(".", "_")]
    for attempt, case, context in _attempts(tau_bench.read(path)):
        name = attempt.case.rpartition("/")[2]
        if attempt.is_failure and name in readings:
            yield _log(name, attempt, case, context, readings[name], "")


def _attempts(items: Iterator[object]) -> Iterator[tuple[Attempt, Case | None, tuple[Artefact, ...]]]:
    cases: dict[str, Case] = {}
    context: tuple[Artefact, ...] = ()
    for item in items:
        if isinstance(item, Case):
            cases[item.key] = item
        elif isinstance(item, Run):
            context = item.context
        elif isinstance(item, Attempt):
            yield item, cases.get(item.case), context


def _log(
    name: str, attempt: Attempt, case: Case | None, context: tuple[Artefact, ...], step: int, agent: str
) -> LabelledLog:
    flagged = tuple(dict.fromkeys(one.step for one in evidence_log(attempt, case, context)))
    file = attempt.ref.file if attempt.ref else ""
    return LabelledLog(name, flagged, step, agent, {one.index: one.actor.name for one in attempt.steps}, file)


if __name__ == "__main__":
    main()
