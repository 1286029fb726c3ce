"""The files beside the rows of a conversation → its run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata.model import Artefact, ErrorInfo, Reported, Run, Scorer, SourceInfo, SourceRef, Subject, Unreadable
from errata.model.words import ArtefactRole, ErrorText
from errata.sources.base import Row, describe, json_file, json_lines, unreadable
from errata.sources.conversation_bench import NAME, RUNTIME, TRANSCRIPT, comparison
from errata.sources.conversation_bench.comparison import ComparisonRow
from errata.sources.conversation_bench.contract import Contract, find_contract, text_artefact
from errata.sources.conversation_bench.layout import AUDIO, RUN_LOG, ConversationFiles, count, is_name, number
from errata.sources.conversation_bench.run_log import LogFacts, read_log
from errata.sources.conversation_bench.scores import ONLY_ON_SOME_TURNS
from errata.sources.shared.documents import object_in
from errata.sources.shared.values import mapping, plain, sequence, text

PLAN_CAP = 1_000_000
"""A larger plan is a damaged number."""

_PASSES = ("passes", "claude_passes")
"""The second is the spelling of older summaries."""


_READ_FILES: tuple[tuple[ArtefactRole, str], ...] = (("log", RUN_LOG), ("transcript", TRANSCRIPT))


class ConversationFacts(NamedTuple):
    """The facts about a conversation that are known before its rows are read."""

    files: ConversationFiles
    runtime: dict[str, Any]
    summaries: dict[str, dict[str, Any]]
    log: LogFacts
    listed: ComparisonRow | None
    benchmark: str
    contract: Contract
    problems: tuple[Unreadable, ...]


class TurnPlan(NamedTuple):
    turns: int
    ref: SourceRef | None


def gather(files: ConversationFiles, listed: ComparisonRow | None) -> ConversationFacts:
    root = files.root
    if not files.is_folder:
        return ConversationFacts(files, {}, {}, LogFacts(), None, "", Contract(), ())
    problems: list[Unreadable] = []
    runtime = _document(root / RUNTIME, problems)
    summaries = {judge: _document(root / f"{judge}_summary.json", problems) for judge in files.judged}
    try:
        log = read_log(root, in_order=(count(runtime.get("parallel")) or 1) == 1)
    except OSError as error:
        log = LogFacts()
        problems.append(unreadable(NAME, SourceRef(file=RUN_LOG), describe(error)))
    benchmark = _benchmark(root, runtime, log)
    listed = comparison.listing_of(root) or listed
    contract = find_contract(root, benchmark)
    return ConversationFacts(files, runtime, summaries, log, listed, benchmark, contract, tuple(problems))


def _document(path: Path, problems: list[Unreadable]) -> dict[str, Any]:
    return object_in(json_file(path, source=NAME, root=path.parent), NAME, problems) if path.is_file() else {}


def _benchmark(root: Path, runtime: dict[str, Any], log: LogFacts) -> str:
    note = text(runtime.get("note"))
    # in some versions the note is free text; only a single word can be the benchmark's name
    return log.benchmark or (note if is_name(note) else "") or root.parent.name


def planned(facts: ConversationFacts) -> TurnPlan | None:
    """The planned number of turns, and where it is written."""
    runtime = SourceRef(file=RUNTIME)
    stated = [
        (count(facts.runtime.get("total_attempted")), runtime),
        (facts.log.turns, SourceRef(file=RUN_LOG, line=facts.log.settings_line)),
    ]
    turns = facts.contract.turns
    otherwise = [
        (facts.contract.length, turns[0].ref if turns else None),
        (count(facts.runtime.get("turns")), runtime),
    ]
    for group in (stated, otherwise):
        known = [TurnPlan(number, ref) for number, ref in group if number is not None and number <= PLAN_CAP]
        if known:
            return max(known, key=lambda plan: plan.turns)
    return None


def failed_turns(facts: ConversationFacts) -> dict[int, tuple[ErrorInfo, ...]]:
    """The `failed_turns` of runtime.json, each with its errors from run.log."""
    failed: dict[int, tuple[ErrorInfo, ...]] = {}
    for place, entry in enumerate(sequence(facts.runtime.get("failed_turns"))):
        details = mapping(entry)
        turn = count(details.get("turn") if details else entry)
        if turn is not None and turn <= PLAN_CAP and type(entry) is not bool:
            message = text(details.get("error")) or "listed in failed_turns"
            ref = SourceRef(file=RUNTIME, pointer=f"/failed_turns/{place}")
            derived: tuple[ErrorText, ...] = ("type",) if text(details.get("error")) else ("type", "message")
            error = ErrorInfo(type="failed_turn", message=message, derived=derived, extra=plain(details), ref=ref)
            failed[turn] = facts.log.of_turn(turn) or (error,)
    return failed


def judges(facts: ConversationFacts) -> dict[str, Scorer]:
    """The judges in the order of their files; the comparison supplies values that a summary lacks."""
    row = facts.listed.row if facts.listed else {}
    made = {}
    for name in facts.files.judged:
        summary = facts.summaries.get(name) or {}
        compared = row if row.get("judge_name") == name else {}
        made[name] = Scorer(
            name=name,
            kind="judge",
            model=text(summary.get("judge_model")) or compared.get("judge_model", ""),
            version=text(summary.get("judge_version")) or compared.get("judge_version", ""),
        )
    return made


def run_record(facts: ConversationFacts) -> Run:
    files, runtime, log, listed = facts.files, facts.runtime, facts.log, facts.listed
    scorers = judges(facts)
    plan = planned(facts)
    return Run(
        native_id=files.native_id,
        source=SourceInfo(name=NAME),
        group=comparison.group_of(listed) if listed else "",
        subject=Subject(model=_model(facts)),
        roles=_roles(scorers),
        variant={"mode": text(runtime.get("mode"))} if text(runtime.get("mode")) else {},
        suite=facts.benchmark,
        expected_cases=plan.turns if plan else None,
        started_at=log.started_at,
        finished_at=log.finished_at if log.complete else None,
        native_status="Conversation complete" if log.complete else "",
        reported=tuple(_reported(facts)),
        scorers=tuple(scorers.values()),
        context=facts.contract.context + tuple(_artefacts(facts)),
        environment={key: plain(runtime[key]) for key in ("parallel", "disable_vad") if key in runtime},
        log_evidence=log.evidence,
        origin=str(files.root),
        extra=_extra(facts),
        ref=_run_ref(facts),
    )


def _model(facts: ConversationFacts) -> str:
    names = [facts.runtime.get("model_name"), *(summary.get("model_name") for summary in facts.summaries.values())]
    known = next((name for name in map(text, names) if name), "") or _model_of_rows(facts.files) or facts.log.model
    if known or not facts.files.is_folder:
        return known
    # 20260301T100000_voice-alpha_1a2b3c4d
    return "_".join(facts.files.native_id.split("_")[1:-1])


def _model_of_rows(files: ConversationFiles) -> str:
    for path in (*files.judged.values(), *((files.transcript,) if files.transcript else ())):
        for row in json_lines(path, source=NAME, root=files.root):
            model = text(mapping(row.data).get("model_name")) if type(row) is Row else ""
            if model:
                return model
    return ""


def _roles(scorers: dict[str, Scorer]) -> dict[str, str]:
    named = [scorer for scorer in scorers.values() if scorer.model]
    return {"judge" if place == 0 else f"judge ({one.name})": one.model for place, one in enumerate(named)}


def _reported(facts: ConversationFacts) -> Iterator[Reported]:
    if facts.listed:
        yield from comparison.reported(facts.listed, facts.files.root)
    for judge, summary in facts.summaries.items():
        ref = SourceRef(file=f"{judge}_summary.json")
        scored = count(summary.get("turns_scored"))
        if scored is not None:
            yield Reported(name="turns_scored", metric="scored", scorer=judge, value=scored, ref=ref)
        totals = mapping(summary.get("category_totals"))
        key = next((key for key in _PASSES if type(summary.get(key)) is dict), "")
        for name, passes in mapping(summary.get(key)).items():
            # a category total is the denominator only for dimensions that apply to some turns
            n = count(totals.get(name)) if name in ONLY_ON_SOME_TURNS else None
            yield Reported(
                name=name,
                metric="passes",
                scorer=judge,
                value=number(passes),
                n=scored if n is None else n,
                null_passes=True,
                ref=msgspec.structs.replace(ref, pointer=f"/{key}/{name}"),
            )


def _artefacts(facts: ConversationFacts) -> Iterator[Artefact]:
    """Files of the whole conversation. Rows and log are read elsewhere; only their names and sizes are kept."""
    root = facts.files.root
    if not facts.files.is_folder:
        return
    for judge in facts.files.judged:
        name = f"{judge}_analysis.md"
        if (root / name).is_file():
            yield text_artefact("grader", root / name, name)
    if (root / AUDIO).is_file():
        yield Artefact(role="output", path=AUDIO, size=_size(root / AUDIO), binary=True)
    for role, name in _READ_FILES:
        if (root / name).is_file():
            yield Artefact(role=role, path=name, size=_size(root / name))


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _extra(facts: ConversationFacts) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    if facts.files.is_folder and "_" in facts.files.native_id:
        extra["short_id"] = facts.files.native_id.rpartition("_")[2]
    if facts.runtime:
        extra["runtime"] = plain(facts.runtime)
    if any(facts.summaries.values()):
        extra["summaries"] = {judge: plain(summary) for judge, summary in facts.summaries.items() if summary}
    if facts.listed:
        extra["comparison"] = comparison.details(facts.listed)
    return extra


def _run_ref(facts: ConversationFacts) -> SourceRef:
    first = [*facts.files.judged.values(), *((facts.files.transcript,) if facts.files.transcript else ())]
    if (facts.files.root / RUNTIME).is_file() and facts.files.is_folder:
        return SourceRef(file=RUNTIME)
    return SourceRef(file=first[0].name)
