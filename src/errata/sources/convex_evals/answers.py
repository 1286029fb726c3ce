"""Saved answers of a convex deployment: classify each, and group those about one run by id."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from errata.model import SourceRef, Unreadable
from errata.sources.base import EXCERPT, FILE_CAP, decode, describe, relative, unreadable
from errata.sources.convex_evals import NAME
from errata.sources.shared.values import mapping, plain, sequence, text
from errata.text.clean import one_line

Kind = Literal["details", "failed", "debug"]
TITLES: dict[Kind, str] = {
    "details": "runs:getRunDetails",
    "failed": "debugQueries:getFailedEvalsForRun",
    "debug": "debug:getEvalDebugInfo",
}
KINDS = ("pending", "running", "passed", "failed")
_FINISHED = ("completed", "failed")
_NO_ID = "path:"
_FETCHED = {"run", "deployment", "asked", "at"}
"""What `errata fetch` records about itself beside the answers."""


class SavedAnswer(NamedTuple):
    kind: Kind
    value: dict[str, Any]
    """A debug answer is kept without its files, which are read again when its eval is converted."""
    path: Path
    ref: SourceRef


class ErrorAnswer(NamedTuple):
    """Convex answered with an error or with null."""

    why: str


class OtherAnswer(NamedTuple):
    """A document that belongs to the answers and is not about a run: download addresses, the record of a fetch."""


class NotAnAnswer(NamedTuple):
    """A document that is not an answer about a run."""

    why: str = "not an answer about a run of convex-evals"


def read_answer(path: Path, root: Path) -> SavedAnswer | Unreadable | None:
    """The answer in a file; None if it is not about a run."""
    ref = SourceRef(file=relative(path, root))
    try:
        if path.stat().st_size > FILE_CAP:
            return unreadable(NAME, ref, f"larger than {FILE_CAP // 2**20} MB")
        data = path.read_bytes()
        document = decode_answer(data)
    except (OSError, ValueError, RecursionError) as error:
        return unreadable(NAME, ref, describe(error))
    kind = classify(document)
    if isinstance(kind, OtherAnswer):
        return None
    if isinstance(kind, ErrorAnswer | NotAnAnswer):
        return unreadable(NAME, ref, kind.why, excerpt=data[:EXCERPT])
    value = unwrap(document)
    if kind == "debug":
        value = {key: child for key, child in value.items() if key not in ("outputFiles", "evalSourceFiles")}
    return SavedAnswer(kind, value, path, SourceRef(file=ref.file, pointer="/value" if _is_envelope(document) else ""))


def debug_files(answer: SavedAnswer) -> dict[str, dict[str, Any]]:
    try:
        value = mapping(unwrap(decode_answer(answer.path.read_bytes())))
    except (OSError, ValueError, RecursionError):
        return {}
    return {name: value[name] for name in ("outputFiles", "evalSourceFiles") if isinstance(value.get(name), dict)}


def decode_answer(data: bytes) -> Any:
    """JSON, or the output of `npx convex run`, which has log lines before, between and after it."""
    try:
        return decode(data)
    except ValueError:
        bare = _without_log_lines(data)
        if bare is None:
            raise
        return decode(bare)


def classify(document: Any) -> Kind | ErrorAnswer | OtherAnswer | NotAnAnswer:
    if _is_envelope(document):
        if document.get("status") == "error" or "errorMessage" in document:
            return ErrorAnswer(f"convex answered with an error: {one_line(text(document.get('errorMessage')), 300)}")
        if isinstance(document.get("value"), str):
            return OtherAnswer()
    value = unwrap(document)
    if value is None:
        return ErrorAnswer("convex answered null: there is no such run")
    if isinstance(value, dict):
        return _kind_of(value)
    return NotAnAnswer()


def unwrap(document: Any) -> Any:
    return document.get("value") if _is_envelope(document) else document


def _kind_of(value: dict[str, Any]) -> Kind | ErrorAnswer | OtherAnswer | NotAnAnswer:
    if "failedEvals" in value:
        return "failed"
    if "plannedEvals" in value or ("evals" in value and "_id" in value):
        return "details"
    if isinstance(value.get("eval"), dict):
        return "debug"
    if "error" in value:
        return ErrorAnswer(f"convex answered with an error: {one_line(str(plain(value['error'])), 300)}")
    if "code" in value and "message" in value:
        return ErrorAnswer(f"convex refused the request: {value['code']}: {one_line(str(value['message']), 300)}")
    if (value and all(_is_address(entry) for entry in value.values())) or value.keys() >= _FETCHED:
        return OtherAnswer()
    return NotAnAnswer()


def _is_envelope(document: Any) -> bool:
    return isinstance(document, dict) and (
        ("status" in document and "value" in document and "_id" not in document)
        or "errorMessage" in document
        or ("logLines" in document and document.get("status") in ("success", "error"))
    )


def _is_address(entry: Any) -> bool:
    """Whether this is one answer of `runs:getOutputUrl`, in a map by storage id."""
    value = entry.get("value") if _is_envelope(entry) else entry
    return (isinstance(value, str) and "://" in value) or (_is_envelope(entry) and value is None)


def _without_log_lines(data: bytes) -> bytes | None:
    lines = [line for line in data.splitlines() if not line.startswith(b"[CONVEX ")]
    opening = next((at for at, line in enumerate(lines) if line.startswith(b"{")), None)
    if opening is None:
        return None
    ends = [at for at, line in enumerate(lines) if line.startswith(b"}")]
    closing = ends[-1] if ends else opening
    bare = b"\n".join(lines[opening : closing + 1])
    return bare if bare != data.strip() else None


class Statement(NamedTuple):
    """The part of one answer about one eval."""

    kind: Kind
    document: dict[str, Any]
    status: dict[str, Any]
    steps: list[Any] | None
    answer: SavedAnswer
    ref: SourceRef


@dataclass
class RunAnswers:
    """The answers about one run; the first of each kind is trusted most."""

    id: str
    details: list[SavedAnswer] = field(default_factory=list)
    debug: list[SavedAnswer] = field(default_factory=list)
    failed: list[SavedAnswer] = field(default_factory=list)

    def add(self, answer: SavedAnswer) -> None:
        {"details": self.details, "debug": self.debug, "failed": self.failed}[answer.kind].append(answer)

    @property
    def part(self) -> str:
        """The eval of a single debug answer; empty if any answer is about the whole run."""
        return "" if self.details or self.failed else next(iter(self.evals()), "").removeprefix(_NO_ID)

    @property
    def answers(self) -> list[SavedAnswer]:
        """Most trusted first: details of the finished run before details of the same run unfinished."""
        finished = sorted(self.details, key=lambda answer: _status_kind(answer.value) not in _FINISHED)
        return [*finished, *self.debug, *self.failed]

    @property
    def heads(self) -> list[tuple[dict[str, Any], SourceRef]]:
        return [
            (answer.value, answer.ref) if answer.kind == "details" else (_head(answer), answer.ref.below("run"))
            for answer in self.answers
        ]

    @property
    def planned(self) -> dict[str, SourceRef]:
        for answer in self.answers:
            if isinstance(answer.value.get("plannedEvals"), list):
                listed = enumerate(answer.value["plannedEvals"])
                return {
                    path: answer.ref.below("plannedEvals", number) for number, path in listed if isinstance(path, str)
                }
        return {}

    def evals(self) -> dict[str, list[Statement]]:
        """Eval id → the statements about it, most trusted first."""
        by_eval: dict[str, list[Statement]] = {}
        by_path: dict[str, str] = {}
        for answer in self.answers:
            for statement in _statements(answer):
                key, path = _eval_key(statement.document), text(statement.document.get("evalPath"))
                known = by_path.setdefault(path, key) if path else key
                # one of the two has no id: the same path means the same eval
                if known.startswith(_NO_ID) or key.startswith(_NO_ID):
                    key = known
                by_eval.setdefault(key, []).append(statement)
        return {key: by_eval[key] for key in dict.fromkeys((*self._listed(by_eval), *by_eval))}

    def _listed(self, by_eval: Mapping[str, list[Statement]]) -> list[str]:
        """In the order of the first answer that lists the evals of the run; answers about one eval each have none."""
        listing = next((answer for answer in self.answers if answer.kind != "debug"), None)
        listed = (_eval_key(statement.document) for statement in (_statements(listing) if listing else ()))
        return [key for key in listed if key in by_eval]


def collect(answers: Iterable[SavedAnswer]) -> tuple[list[RunAnswers], list[Unreadable]]:
    """The answers grouped by run, in the order of their files, and the answers without a run."""
    runs: dict[str, RunAnswers] = {}
    homeless: list[SavedAnswer] = []
    for answer in answers:
        run_id = text(_head(answer).get("_id"))
        if run_id:
            runs.setdefault(run_id, RunAnswers(run_id)).add(answer)
        else:
            homeless.append(answer)
    lost = [answer for answer in homeless if not _find_home(answer, runs)]
    return list(runs.values()), [unreadable(NAME, answer.ref, "names no run") for answer in lost]


def _find_home(answer: SavedAnswer, runs: dict[str, RunAnswers]) -> bool:
    """Add a debug answer without a run to the run that lists its eval, or to the only run."""
    if answer.kind != "debug":
        return False
    key = _eval_key(mapping(answer.value.get("eval")))
    homes = [run for run in runs.values() if key in run.evals()] or list(runs.values())
    if len(homes) != 1:
        return False
    homes[0].add(answer)
    return True


def _head(answer: SavedAnswer) -> dict[str, Any]:
    return answer.value if answer.kind == "details" else mapping(answer.value.get("run"))


def _status_kind(document: dict[str, Any]) -> str:
    return text(mapping(document.get("status")).get("kind"))


def _eval_key(document: dict[str, Any]) -> str:
    return text(document.get("_id")) or f"{_NO_ID}{document.get('evalPath')}"


def _statements(answer: SavedAnswer) -> Iterator[Statement]:
    if answer.kind == "debug":
        document = mapping(answer.value.get("eval"))
        steps = answer.value.get("steps")
        status = mapping(document.get("status"))
        yield Statement(
            "debug", document, status, steps if isinstance(steps, list) else None, answer, answer.ref.below("eval")
        )
        return
    name = "evals" if answer.kind == "details" else "failedEvals"
    for number, entry in enumerate(sequence(answer.value.get(name))):
        document = mapping(entry)
        ref = answer.ref.below(name, number)
        if answer.kind == "failed":
            yield Statement(
                "failed",
                document,
                {"kind": "failed", "failureReason": document.get("failureReason")},
                _failed_steps(document),
                answer,
                ref,
            )
        else:
            steps = document.get("steps")
            status = mapping(document.get("status"))
            yield Statement("details", document, status, steps if isinstance(steps, list) else None, answer, ref)


def _failed_steps(document: dict[str, Any]) -> list[Any]:
    """This answer contains only the first failed step; none means that nothing was generated."""
    step = document.get("failedStep")
    if not isinstance(step, dict):
        return []
    status = {"kind": "failed", **{key: value for key, value in step.items() if key != "name"}}
    return [{"name": step.get("name"), "status": status}]
