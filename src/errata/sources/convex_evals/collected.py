"""All saved answers about one run, brought together by run id and eval id."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from errata.model import SourceRef, Unreadable
from errata.sources.base import unreadable
from errata.sources.convex_evals.answers import Answer, Kind
from errata.sources.convex_evals.vocabulary import NAME
from errata.sources.shared.values import mapping, sequence, text

KINDS = ("pending", "running", "passed", "failed")
_FINISHED = ("completed", "failed")
_NO_ID = "path:"


class Said(NamedTuple):
    """What one answer says of one eval."""

    kind: Kind
    document: dict[str, Any]
    status: dict[str, Any]
    steps: list[Any] | None
    answer: Answer
    ref: SourceRef


@dataclass
class Collected:
    """The answers about one run; of each kind the first is trusted most."""

    id: str
    details: list[Answer] = field(default_factory=list)
    debug: list[Answer] = field(default_factory=list)
    failed: list[Answer] = field(default_factory=list)

    def add(self, answer: Answer) -> None:
        {"details": self.details, "debug": self.debug, "failed": self.failed}[answer.kind].append(answer)

    @property
    def part(self) -> str:
        """The eval that a debug answer alone is about; the others are about the run as a whole."""
        return "" if self.details or self.failed else next(iter(self.evals()), "").removeprefix(_NO_ID)

    @property
    def answers(self) -> list[Answer]:
        """The most trusted first: a finished run's details before those of the same run unfinished."""
        finished = sorted(self.details, key=lambda answer: _status_kind(answer.value) not in _FINISHED)
        return [*finished, *self.debug, *self.failed]

    @property
    def heads(self) -> list[tuple[dict[str, Any], SourceRef]]:
        """What each answer says of the run itself."""
        return [
            (answer.value, answer.ref) if answer.kind == "details" else (_head(answer), answer.ref.below("run"))
            for answer in self.answers
        ]

    @property
    def planned(self) -> dict[str, SourceRef]:
        """The evals that should have been run; empty also where no answer lists them."""
        for answer in self.answers:
            if isinstance(answer.value.get("plannedEvals"), list):
                listed = enumerate(answer.value["plannedEvals"])
                return {
                    path: answer.ref.below("plannedEvals", number) for number, path in listed if isinstance(path, str)
                }
        return {}

    def evals(self) -> dict[str, list[Said]]:
        """Eval id → what was said of it, by the most trusted answer first."""
        found: dict[str, list[Said]] = {}
        by_path: dict[str, str] = {}
        for answer in self.answers:
            for said in _sayings(answer):
                key, path = _eval_key(said.document), text(said.document.get("evalPath"))
                known = by_path.setdefault(path, key) if path else key
                # one of the two has lost its id: the path tells that they are one eval
                if known.startswith(_NO_ID) or key.startswith(_NO_ID):
                    key = known
                found.setdefault(key, []).append(said)
        return found


def collect(answers: Iterable[Answer]) -> tuple[list[Collected], list[Unreadable]]:
    """One `Collected` per run, in the order of their files, and the answers that belong to none."""
    runs: dict[str, Collected] = {}
    homeless: list[Answer] = []
    for answer in answers:
        run_id = text(_head(answer).get("_id"))
        if run_id:
            runs.setdefault(run_id, Collected(run_id)).add(answer)
        else:
            homeless.append(answer)
    lost = [answer for answer in homeless if not _find_home(answer, runs)]
    return list(runs.values()), [unreadable(NAME, answer.ref, "names no run") for answer in lost]


def _find_home(answer: Answer, runs: dict[str, Collected]) -> bool:
    """A debug answer may have lost its run; the run that lists its eval takes it, or the only one there is."""
    if answer.kind != "debug":
        return False
    key = _eval_key(mapping(answer.value.get("eval")))
    homes = [run for run in runs.values() if key in run.evals()] or list(runs.values())
    if len(homes) != 1:
        return False
    homes[0].add(answer)
    return True


def _head(answer: Answer) -> dict[str, Any]:
    return answer.value if answer.kind == "details" else mapping(answer.value.get("run"))


def _status_kind(document: dict[str, Any]) -> str:
    return text(mapping(document.get("status")).get("kind"))


def _eval_key(document: dict[str, Any]) -> str:
    return text(document.get("_id")) or f"{_NO_ID}{document.get('evalPath')}"


def _sayings(answer: Answer) -> Iterator[Said]:
    if answer.kind == "debug":
        document = mapping(answer.value.get("eval"))
        steps = answer.value.get("steps")
        status = mapping(document.get("status"))
        yield Said(
            "debug", document, status, steps if isinstance(steps, list) else None, answer, answer.ref.below("eval")
        )
        return
    name = "evals" if answer.kind == "details" else "failedEvals"
    for number, entry in enumerate(sequence(answer.value.get(name))):
        document = mapping(entry)
        ref = answer.ref.below(name, number)
        if answer.kind == "failed":
            yield Said("failed", document, _failed_status(document), _failed_steps(document), answer, ref)
        else:
            steps = document.get("steps")
            status = mapping(document.get("status"))
            yield Said("details", document, status, steps if isinstance(steps, list) else None, answer, ref)


def _failed_status(document: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "failed", "failureReason": document.get("failureReason")}


def _failed_steps(document: dict[str, Any]) -> list[Any]:
    """This answer names the first failed step only; none = nothing was generated."""
    step = document.get("failedStep")
    if not isinstance(step, dict):
        return []
    status = {"kind": "failed", **{key: value for key, value in step.items() if key != "name"}}
    return [{"name": step.get("name"), "status": status}]
