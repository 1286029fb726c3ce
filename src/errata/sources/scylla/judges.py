"""The judges of a run: the judgement of each, the criteria it rated, and the consensus."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Check, Judgement, SourceRef
from errata.model.words import CheckStatus
from errata.sources.base import folders, text_file
from errata.sources.base import number_or_none as number
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import differing, integer, mapping, non_empty, sequence, text
from errata.text.lazy_regex import lazy_regex

_FOLDER = lazy_regex(r"judge_(\d+)$")
_MODEL_LINE = lazy_regex(r"^\*\*(Model|Claude Code Version)\*\*: (.+)$", re.M)


class ScyllaJudge(NamedTuple):
    """One judge's data from `run_result.json`, completed from the judge's own folder."""

    number: int
    data: dict[str, Any]
    ref: SourceRef | None
    version: str = ""

    @property
    def name(self) -> str:
        return f"judge_{self.number:02}"

    @property
    def valid(self) -> bool:
        return self.data.get("is_valid") is not False


def read_judges(
    run_folder: Path, result: dict[str, Any], result_ref: SourceRef, documents: Documents
) -> list[ScyllaJudge]:
    judges: dict[int, ScyllaJudge] = {}
    for place, entry in enumerate(sequence(result.get("judges"))):
        if not isinstance(entry, dict):
            documents.refuse(result_ref.below("judges", place), "expected an object")
            continue
        number_ = integer(entry.get("judge_number"))
        if number_ is None or number_ in judges:
            number_ = max(judges, default=0) + 1
        judges[number_] = ScyllaJudge(number_, entry, result_ref.below("judges", place))
    for folder in folders(run_folder / "judge"):
        if name := _FOLDER.match(folder.name):
            number_ = int(name[1])
            judges[number_] = _with_folder(judges.get(number_), number_, folder, documents)
    return [judges[number_] for number_ in sorted(judges)]


def judgement_of(judge: ScyllaJudge) -> Judgement:
    fields = {name: judge.data.get(name) for name in ("score", "passed", "grade", "duration_seconds", "measured_at")}
    return Judgement(
        judge=judge.name,
        model=text(judge.data.get("model")),
        version=judge.version,
        valid=judge.valid,
        reasoning=text(judge.data.get("reasoning")),
        raw=non_empty(**fields, told_otherwise=judge.data.get("told_otherwise")),
        ref=judge.ref,
    )


def checks_of(judge: ScyllaJudge) -> Iterator[Check]:
    """The judge's criteria: each category, then its items. Null means there is no criterion."""
    yield from criteria_checks(judge.data.get("criteria_scores"), judge=judge.name, valid=judge.valid)


def criteria_checks(criteria: Any, *, judge: str = "", valid: bool = True) -> Iterator[Check]:
    for category, rating in mapping(criteria).items():
        yield _criterion(text(category), rating, judge, valid)
        for item, rated in mapping(mapping(rating).get("items")).items():
            yield _criterion(f"{text(category)}/{text(item)}", rated, judge, valid)


def consensus_check(score: float | None, passed: bool | None, reasoning: str, grade: str) -> Check:
    """The consensus of the judges: the mean score, and the majority for pass or fail."""
    status: CheckStatus = "unscored" if passed is None else ("pass" if passed else "fail")
    return Check(
        name="judges",
        scorer="judge consensus",
        kind="reward",
        status=status,
        value=score,
        is_primary=True,
        explanation=reasoning,
        reason_code=grade,
    )


def criterion_status(achieved: Any, maximum: Any, *, valid: bool = True) -> CheckStatus:
    """The harness has no pass rule for a criterion: full marks pass. An invalid judge's rating is not a measurement."""
    if not valid:
        return "error"
    points, max_points = number(achieved), number(maximum)
    if text(achieved).strip().upper() == "N/A" or text(maximum).strip().upper() == "N/A" or max_points == 0:
        return "not_applicable"
    if points is None or max_points is None:
        return "unscored"
    return "pass" if points >= max_points else "fail"


def _criterion(name: str, rating: Any, judge: str, valid: bool) -> Check:
    rated = rating if isinstance(rating, dict) else {"achieved": rating, "max": 1.0}
    score = number(rated.get("score"))
    return Check(
        name=name,
        scorer="criterion",
        judge=judge,
        kind="criterion",
        status=criterion_status(rated.get("achieved"), rated.get("max"), valid=valid),
        value=score if score is not None else number(rated.get("achieved")),
        achieved=number(rated.get("achieved")),
        max=number(rated.get("max")),
        counts=False,
        explanation=text(rated.get("reason")),
        extra=non_empty(na_items=rated.get("na_items")) | _odd(rated),
    )


def _odd(rated: dict[str, Any]) -> dict[str, Any]:
    """What the fields of a check can't hold: unknown names, and words other than `N/A` in place of a number."""
    known_fields = ("achieved", "max", "score", "items", "na_items", "reason")
    texts = {name: rated[name] for name in ("achieved", "max") if text(rated.get(name)).strip() not in ("", "N/A")}
    unknown = {text(name): value for name, value in rated.items() if name not in known_fields}
    return non_empty(**unknown | texts)


def _with_folder(judge: ScyllaJudge | None, number_: int, folder: Path, documents: Documents) -> ScyllaJudge:
    path = folder / "judgment.json"
    judgment, timing = documents.get(path), documents.get(folder / "timing.json")
    model_lines = dict(_MODEL_LINE.findall(text_file(folder / "MODEL.md", cap=4096) or ""))
    data = {"model": model_lines.get("Model", ""), "measured_at": timing.get("measured_at")}
    data |= {"duration_seconds": timing.get("judge_duration_seconds")}
    for source in (judgment, judge.data if judge else {}):
        data |= {name: value for name, value in source.items() if value is not None}
    if judgment.get("is_valid") is False:
        data["is_valid"] = False
    if judge is not None:
        data["told_otherwise"] = differing({name: value for name, value in judgment.items() if value is not None}, data)
    ref = documents.ref(path) if judgment else (judge.ref if judge else documents.ref(folder))
    return ScyllaJudge(number_, data, ref, model_lines.get("Claude Code Version", ""))
