"""Checkpoints 2.0, 3.0 and 3.1: how far every run of an experiment had come when the process last wrote."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from errata.sources.scylla.values import whole
from errata.sources.shared.values import known, last_part, mapping, moment, text

SUPPORTED = ("2.0", "3.0", "3.1")

BROKEN = frozenset({"failed", "rate_limited"})
FINAL = frozenset({"run_finalized", "report_written", "checkpointed", "worktree_cleaned", "run_complete"})
UNDER_WAY = frozenset({"running", "paused_rate_limit"})
_RECORDED = frozenset({"passed", "failed"})
_VITAL = (
    *("version", "config_hash", "experiment_id", "status", "experiment_state", "tier_states", "subtest_states"),
    *("started_at", "last_updated_at", "last_heartbeat", "pid"),
    *("rate_limit_source", "rate_limit_until", "pause_count"),
)


class RunState(NamedTuple):
    """`state` is the step that the run had reached; `recorded` what `completed_runs` says, which may be wrong."""

    state: str = ""
    recorded: str = ""

    @property
    def word(self) -> str:
        return self.state or self.recorded

    @property
    def broken(self) -> bool:
        return self.state in BROKEN

    @property
    def over(self) -> bool:
        return self.state in FINAL or (not self.state and self.recorded in _RECORDED)


class Checkpoint(NamedTuple):
    data: dict[str, Any]

    @property
    def version(self) -> str:
        return text(self.data.get("version"))

    @property
    def supported(self) -> bool:
        return self.version in SUPPORTED

    @property
    def status(self) -> str:
        return text(self.data.get("status"))

    def state_of(self, tier: str, subtest: str, number: int) -> RunState:
        return RunState(
            text(_at(self.data.get("run_states"), tier, subtest, str(number))),
            text(_at(self.data.get("completed_runs"), tier, subtest, str(number))),
        )

    def runs(self) -> Iterator[tuple[str, str, int]]:
        """Tier, subtest and number of every run that the checkpoint knows."""
        seen = set()
        for table in ("run_states", "completed_runs"):
            for tier, subtests in mapping(self.data.get(table)).items():
                for subtest, runs in mapping(subtests).items():
                    for number in mapping(runs):
                        place = (text(tier), text(subtest), int(number) if re.fullmatch(r"\d{1,6}", number) else 0)
                        if place[2] and place not in seen:
                            seen.add(place)
                            yield place

    @property
    def vital_signs(self) -> dict[str, Any]:
        """What tells a finished process from a running and from a dead one, and how far the parts were."""
        kept = {name: self.data.get(name) for name in _VITAL}
        return known(**kept) | known(experiment_dir=last_part(self.data.get("experiment_dir")))

    def process(self, name: str) -> dict[str, Any]:
        """The process that wrote it, in the words of `Run.environment`: a checkup asks whether it still lives."""
        beat = moment(self.data.get("last_heartbeat")) or moment(self.data.get("last_updated_at"))
        return known(name=name, status=self.status, pid=whole(self.data.get("pid")), heartbeat=beat)


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = mapping(value).get(key)
    return value
