"""The files that write settled failures back: a script with data for Inspect, a commented copy for promptfoo."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import msgspec

from errata import __version__
from errata.errors import SettingsError, SourceError
from errata.model import Attempt, Attribution, Check, Quote, Run, StoredRun
from errata.model.identity import fingerprint
from errata.model.output.act import WhyLeft
from errata.model.record import Struct
from errata.model.run import case_name
from errata.model.standing import AttemptReview, Standing
from errata.model.verdict import word_for
from errata.model.words import NOT_THE_SUBJECTS
from errata.render.files import WrittenFile, slug, write_files
from errata.runs.explanation import meaning_of
from errata.runs.standings import is_stale
from errata.runs.view import RunView
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import line_for_user
from errata.triage.rulebook import names_the_cause

RULE = (
    "a final, undisputed verdict whose owner is neither the model nor the budget; for failures without a review, a "
    "certain or likely rule that names the cause and whose owner is provider, environment, harness, simulator or "
    "collateral, or that shows that the measurement broke"
)
KEPT: dict[str, WhyLeft] = {"model": "owner_model", "budget": "owner_budget", "unknown": "owner_unknown"}
"""Owners whose failures count under every policy, or whose failures nobody understands yet."""

HARNESSES = ("inspect-ai", "promptfoo")
QUOTED, WORDS, QUOTES = 300, 500, 3


class FailureOpinion(Struct):
    """The owner of a failure, by the verdict in force or, without a review, by triage."""

    owner: str
    confidence: str
    by: Literal["verdict", "rule"]
    author: str
    version: str = ""
    cause: str = ""
    quotes: tuple[Quote, ...] = ()
    verdict: str = ""
    doubt: WhyLeft | None = None
    """Why the verdict is not reliable: disputed, stale, inherited, or without a second reviewer."""
    breaks: bool = False
    """Whether a signal shows that the measurement, not the answer, is at fault."""


class Settled(Struct):
    attempt: Attempt
    case: str
    opinion: FailureOpinion


def why_left(opinion: FailureOpinion) -> WhyLeft | None:
    """Why a failure is not written back; none if it is settled."""
    if opinion.owner in KEPT:
        return KEPT[opinion.owner]
    if opinion.by == "verdict":
        return opinion.doubt
    if opinion.confidence != "certain" and not (opinion.confidence == "likely" and names_the_cause(opinion.author)):
        return "not_certain"
    return None if opinion.owner in NOT_THE_SUBJECTS or opinion.breaks else "not_reviewed"


def opinion_text(opinion: FailureOpinion) -> str:
    """`provider: the provider answered with a server error (rule server_error v4, certain)`, without secrets."""
    version = opinion.version.partition("-")[0]
    author = f"{opinion.author} v{version}" if opinion.by == "rule" and version else opinion.author
    cause = f": {opinion.cause}" if opinion.cause else ""
    return redacted_line(f"{opinion.owner}{cause} ({opinion.by} {author}, {opinion.confidence})", WORDS)


def quotes_of(opinion: FailureOpinion) -> list[dict[str, str]]:
    quotes = [
        {"place": redacted_line(quote.place, QUOTED), "quote": redacted_line(quote.quote, QUOTED)}
        for quote in opinion.quotes
    ]
    return list({one["quote"]: one for one in reversed(quotes) if one["quote"]}.values())[::-1][:QUOTES]


def redacted_line(text: str, width: int) -> str:
    """Redacted before it is cut: half a secret would not be recognised."""
    return line_for_user(text, width)


class SettledRun(Struct):
    """The failures of a run: which are settled, and why the others are not written back."""

    stored: StoredRun
    settled: tuple[Settled, ...]
    left: dict[WhyLeft, int]


def settled_failures(view: RunView) -> SettledRun:
    stored = view.stored
    if stored.run.source.name not in HARNESSES:
        raise SettingsError(
            f"Run `{stored.run.native_id}` is from `{stored.run.source.name}`, whose logs have no place for findings",
            hint=f"errata writes back to: {', '.join(HARNESSES)}; `errata report` writes findings for people",
        )
    settled: list[Settled] = []
    left: Counter[WhyLeft] = Counter()
    for failure in _failures(view):
        why = why_left(failure.opinion)
        if why is None:
            settled.append(failure)
        else:
            left[why] += 1
    return SettledRun(stored=stored, settled=tuple(settled), left=dict(left.most_common()))


def _failures(view: RunView) -> Iterator[Settled]:
    meanings: dict[str, str] = {}
    for attempt in view.attempts(failures=True, by_position=True):
        name, opinion = case_name(view.run, attempt.case), None
        if attempt.id in view.standings:
            opinion = _of_reviewer(view.standings[attempt.id], view)
        elif attempt.id in view.attributions:
            breaks = attempt.id in view.broken
            opinion = _of_triage(view.attributions[attempt.id], meanings, breaks=breaks)
        if opinion is not None:
            yield Settled(attempt=attempt, case=name, opinion=opinion)


def _of_reviewer(review: AttemptReview, view: RunView) -> FailureOpinion:
    verdict = review.standing.verdict
    return FailureOpinion(
        owner=verdict.owner,
        confidence=verdict.confidence,
        by="verdict",
        author=word_for(verdict.reviewer),
        version=verdict.taxonomy_version,
        cause=verdict.cause,
        quotes=verdict.evidence,
        verdict=verdict.id,
        doubt=_doubt(review.standing, view),
    )


def _doubt(standing: Standing, view: RunView) -> WhyLeft | None:
    if standing.is_disputed:
        return "reviewers_disagree"
    if not standing.final:
        return "needs_second_reviewer" if standing.verdict.inherited_from is None else "verdict_inherited"
    return "verdict_stale" if is_stale(standing.verdict, view.stored, view.store) else None


def _of_triage(attribution: Attribution, meanings: dict[str, str], *, breaks: bool) -> FailureOpinion:
    rule = attribution.decided_by
    if rule not in meanings:
        meanings[rule] = meaning_of(rule)
    quoting = [one for one in attribution.signals if one.quote]
    deciding = [one for one in quoting if one.name == rule] or quoting
    return FailureOpinion(
        owner=attribution.owner,
        confidence=attribution.confidence,
        by="rule",
        author=rule,
        version=attribution.rules_version,
        cause=meanings[rule],
        quotes=tuple(Quote(place=one.where, quote=one.quote) for one in deciding),
        breaks=breaks,
    )


SCRIPT, EDITS = "edit_log.py", "edits.json"
NOTHING = "NaN"
"""How Inspect writes a missing score."""


class LeftFailure(msgspec.Struct, frozen=True):
    settled: Settled
    why: WhyLeft


class InspectEdits(msgspec.Struct, frozen=True):
    edits: tuple[dict[str, Any], ...]
    left: tuple[LeftFailure, ...]


def script_text() -> str:
    return files("errata.writeback").joinpath(SCRIPT).read_text(encoding="utf-8")


def plan_edits(failures: Iterable[Settled]) -> InspectEdits:
    edits, left = [], []
    for settled in failures:
        why = _why_left(settled)
        if why is None:
            edits.append(_edit(settled))
        else:
            left.append(LeftFailure(settled, why))
    return InspectEdits(tuple(edits), tuple(left))


def edits_text(run: Run, edits: Iterable[dict[str, Any]]) -> str:
    """The script's input. It has no path and no time: both are known only when the edits are applied."""
    content = {
        "made_by": f"errata {__version__}",
        "rule": RULE,
        "run": run.native_id,
        "task": run.suite,
        "model": run.subject.model,
        "edits": list(edits),
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"


def _edit(settled: Settled) -> dict[str, Any]:
    attempt, opinion = settled.attempt, settled.opinion
    scored = _deciding(settled)
    fields = {
        "do": "invalidate" if scored is None else "unscore",
        "sample": settled.case,
        "epoch": attempt.index,
        "uuid": attempt.native_id,
        "scorer": scored.scorer if scored else "",
        "keys": [scored.name] if scored and scored.kind == "dimension" else [],
        "was": attempt.native_status if scored else "",
        "reason": opinion_text(opinion),
        "evidence": quotes_of(opinion),
        "owner": opinion.owner,
        "by": opinion.by,
        "author": opinion.author,
        "version": opinion.version,
        "confidence": opinion.confidence,
        "verdict": opinion.verdict,
        "attempt": attempt.id,
    }
    return {"id": fingerprint([fields[name] for name in ("do", "attempt", "scorer", "reason")]), **fields}


def _deciding(settled: Settled) -> Check | None:
    """The score to remove; none if the sample as a whole was not measured."""
    attempt, opinion = settled.attempt, settled.opinion
    if opinion.owner in NOT_THE_SUBJECTS or attempt.execution == "error":
        return None
    return next((check for check in attempt.checks if check.is_primary and check.scorer), None)


def _why_left(settled: Settled) -> WhyLeft | None:
    attempt, scored = settled.attempt, _deciding(settled)
    if attempt.duplicate_of is not None:
        return "duplicate_row"
    if attempt.invalidated is not None:
        return "invalidated_already"
    if scored is not None and NOTHING in (attempt.native_status, scored.value):
        return "unscored_already"
    if scored is None and not attempt.native_id:
        return "no_uuid"
    return None


BEGIN, END = "[errata]", "[/errata]"
"""Around errata's comment, so that it can be replaced while comments of people are kept."""

_OWN = lazy_regex(rf"(?:(?<!\n)\n++)?{re.escape(BEGIN)}(?:(?!{re.escape(BEGIN)}).)*?{re.escape(END)}", re.DOTALL)
_ROW = lazy_regex(r"/results/results/(\d+)")


class Commented(msgspec.Struct, frozen=True):
    text: str
    done: tuple[Settled, ...]
    refused: tuple[LeftFailure, ...]


def why_no_import(document: Any) -> WhyLeft | None:
    """Why `promptfoo import` would not read a copy of this document; none if it does."""
    results = document.get("results") if isinstance(document, dict) else None
    if not isinstance(results, dict) or not isinstance(results.get("results"), list):
        return "not_importable"
    if results.get("version") != 3:
        return "old_export"
    return None


def commented(document: dict[str, Any], native_id: str, settled: Iterable[Settled], *, indent: int | None) -> Commented:
    """Changes `document` in place."""
    done, refused = [], []
    for failure in settled:
        row = _row(document, failure)
        why = _why_uncommented(row, document, native_id, failure)
        if why is None:
            _comment(row, failure)
            done.append(failure)
        else:
            refused.append(LeftFailure(failure, why))
    text = json.dumps(document, ensure_ascii=False, indent=indent, separators=None if indent else (",", ":"))
    return Commented(f"{text}\n", tuple(done), tuple(refused))


def comment_on(settled: Settled) -> str:
    quotes = [f"> {one['quote']}\n  {one['place']}" for one in quotes_of(settled.opinion)]
    return "\n".join([BEGIN, opinion_text(settled.opinion), *quotes, END])


def _row(document: dict[str, Any], settled: Settled) -> dict[str, Any]:
    ref = settled.attempt.ref
    place = _ROW.fullmatch(ref.pointer) if ref else None
    rows = document["results"]["results"]
    at = int(place[1]) if place else len(rows)
    row = rows[at] if at < len(rows) else None
    return row if isinstance(row, dict) else {}


def _why_uncommented(row: dict[str, Any], document: dict[str, Any], native_id: str, settled: Settled) -> WhyLeft | None:
    """Why a row is not the imported one, or can't have a comment."""
    if not row or document.get("evalId", native_id) != native_id:
        return "other_export"
    if settled.attempt.native_id and row.get("id") != settled.attempt.native_id:
        return "export_changed"
    if not isinstance(row.get("gradingResult"), dict) and row.get("failureReason") is None:
        return "not_graded"
    return None


def _comment(row: dict[str, Any], settled: Settled) -> None:
    graded = row.get("gradingResult")
    if not isinstance(graded, dict):
        # a call that failed was not graded; this adds nothing to the row
        graded = {"pass": False, "score": row.get("score") or 0, "reason": row.get("error") or ""}
    before = graded.get("comment")
    kept = _OWN.sub("", before).rstrip() if isinstance(before, str) else ""
    own = comment_on(settled)
    row["gradingResult"] = {**graded, "comment": f"{kept}\n\n{own}" if kept else own}


LARGEST = 512 * 1024 * 1024
INDENTED = b'{\n  "'

LEFT_TEXT: dict[WhyLeft, str] = {
    "duplicate_row": "listed twice in the log",
    "export_changed": "the export has changed since it was imported",
    "invalidated_already": "already invalidated",
    "needs_second_reviewer": "the verdict needs a second reviewer",
    "no_uuid": "no uuid in this old log, so Inspect can't invalidate the sample",
    "not_certain": "the rule is not certain; not reviewed",
    "not_graded": "not graded",
    "not_importable": "`promptfoo import` only reads the JSON of `--output` or `promptfoo export`",
    "not_reviewed": "neither infrastructure nor reviewed",
    "old_export": "exports before version 3 store comments in a separate table",
    "other_export": "the export is not the one that was imported",
    "owner_budget": "owner budget",
    "owner_model": "owner model",
    "owner_unknown": "owner unknown",
    "reviewers_disagree": "reviewers disagree",
    "unscored_already": "already unscored",
    "verdict_inherited": "the verdict was copied from a similar failure",
    "verdict_stale": "the verdict is out of date",
}


class LogChange(msgspec.Struct, frozen=True):
    do: Literal["invalidate", "unscore", "comment"]
    settled: Settled


class WrittenBack(msgspec.Struct, frozen=True, kw_only=True):
    runs: tuple[SettledRun, ...]
    log: Path
    changes: tuple[LogChange, ...]
    left: dict[WhyLeft, int]
    files: tuple[WrittenFile, ...] = ()
    command: tuple[str, ...] = ()


def write_back(settled: Sequence[SettledRun], folder: Path) -> list[WrittenBack]:
    """All runs of a log go into one folder; with several logs, each gets a folder of its own below it."""
    logs: dict[Path, list[SettledRun]] = {}
    for settled_run in settled:
        logs.setdefault(_log_of(settled_run), []).append(settled_run)
    made = []
    for log, runs in logs.items():
        own = folder / slug(f"{log.stem}-{runs[0].stored.run.id[:8]}") if len(logs) > 1 else folder
        write = _for_inspect if runs[0].stored.run.source.name == "inspect-ai" else _for_promptfoo
        made.append(write(log, runs, own))
    return made


def _log_of(settled: SettledRun) -> Path:
    run = settled.stored.run
    return Path(run.origin) / (run.ref.file if run.ref else "")


def _for_inspect(log: Path, runs: Sequence[SettledRun], folder: Path) -> WrittenBack:
    (only,) = runs
    plan = plan_edits(only.settled)
    edits = {one["attempt"]: one["do"] for one in plan.edits}
    made = WrittenBack(
        runs=tuple(runs),
        log=log,
        changes=tuple(LogChange(edits[one.attempt.id], one) for one in only.settled if one.attempt.id in edits),
        left=_count_left(runs, [one.why for one in plan.left]),
    )
    if not plan.edits:
        return made
    script, data = SCRIPT, EDITS
    texts = {data: edits_text(only.stored.run, plan.edits), script: script_text()}
    files = tuple(write_files(folder, texts, executable=frozenset((script,))))
    command = ("python3", str(folder / script), "--dry-run", str(log))
    return msgspec.structs.replace(made, files=files, command=command)


def _for_promptfoo(log: Path, runs: Sequence[SettledRun], folder: Path) -> WrittenBack:
    settled = [one for run in runs for one in run.settled]
    if not settled:
        return WrittenBack(runs=tuple(runs), log=log, changes=(), left=_count_left(runs, []))
    document, indent = _read(log)
    if why := why_no_import(document):
        return WrittenBack(runs=tuple(runs), log=log, changes=(), left=_count_left(runs, [why] * len(settled)))
    copy = commented(document, runs[0].stored.run.native_id, settled, indent=indent)
    changes = tuple(LogChange("comment", one) for one in copy.done)
    made = WrittenBack(
        runs=tuple(runs), log=log, changes=changes, left=_count_left(runs, [one.why for one in copy.refused])
    )
    if not changes:
        return made
    name = f"{slug(log.stem)}.commented.json"
    files = tuple(write_files(folder, {name: copy.text}))
    return msgspec.structs.replace(made, files=files, command=("promptfoo", "import", str(folder / name), "--new-id"))


def _read(log: Path) -> tuple[Any, int | None]:
    try:
        if log.stat().st_size > LARGEST:
            raise SourceError(f"`{log.name}` is larger than {LARGEST // 2**20} MB", hint="comment on a smaller export")
        data = log.read_bytes()
        return json.loads(data), 2 if data.startswith(INDENTED) else None
    except OSError as error:
        raise SourceError(
            f"`{log}` can't be read: {error.strerror}",
            hint="comments are written to a copy of the export: import it again",
        ) from error
    except (ValueError, RecursionError):
        return None, None  # JSON lines, or no longer JSON


def _count_left(runs: Sequence[SettledRun], more: Sequence[WhyLeft]) -> dict[WhyLeft, int]:
    counts: Counter[WhyLeft] = Counter(more)
    for run in runs:
        counts.update(run.left)
    return dict(counts.most_common())
