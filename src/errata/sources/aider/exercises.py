"""A run of aider's benchmark: one folder per exercise. Several tries at one exercise are one attempt."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from errata.model import (
    Actor,
    Attempt,
    Case,
    Check,
    CodeVersion,
    ErrorInfo,
    Item,
    Limit,
    Output,
    Reported,
    Run,
    SourceInfo,
    SourceRef,
    Step,
    Subject,
    Usage,
    UsageByRole,
    case_key,
)
from errata.model.words import ActorRole
from errata.sources.aider import NAME, PRACTICE, RESULTS, SUITE
from errata.sources.base import Row, convert_each, folders, is_file, of_run, text_file
from errata.sources.shared.chat import last_answer
from errata.sources.shared.documents import TEXT_CAP, Documents
from errata.sources.shared.facts import MISSING, Facts
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.values import (
    cost_number,
    count,
    non_empty,
    number,
    parts,
    reported_cost,
    rest,
    sequence,
    text,
)
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import redact

HISTORY = ".aider.chat.history.md"
_MARKS: tuple[tuple[str, ActorRole], ...] = (("####", "user"), (">", "environment"))
_STARTED = "# aider chat started at"
_DOCS = ("introduction.md", "instructions.md", "instructions.append.md")
_DATED = lazy_regex(r"^\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d--")


def read(folder: Path) -> Iterator[Item]:
    documents = Documents(folder, NAME)
    listed = [*exercises(folder)]
    first, tries = _look(listed, documents)
    run = _run(folder, first, tries, documents)
    yield run

    def items(row: Row) -> Iterator[Item]:
        language, exercise = row.data
        name = f"{language}/{exercise.name}" if language else exercise.name
        asked = _instructions(exercise)
        yield Case(run=run.id, suite=run.suite, native_id=name, category=language, input=asked, ref=row.ref)
        yield attempt_of(run, name, exercise, documents)
        yield from of_run(run.id, documents.problems())

    rows = (Row((language, exercise), documents.ref(exercise / RESULTS)) for language, exercise in listed)
    yield from of_run(run.id, convert_each(rows, items, source=NAME))


def exercises(folder: Path) -> Iterator[tuple[str, Path]]:
    """Exercises with their language, if the run has a folder per language."""
    for child in folders(folder):
        practice = child.joinpath(*PRACTICE)
        if practice.is_dir():
            yield from ((child.name, exercise) for exercise in folders(practice))
        else:
            yield "", child


def _look(listed: list[tuple[str, Path]], documents: Documents) -> tuple[dict[str, Any], int]:
    """The first result with a model, and the highest number of tries of any exercise."""
    first: dict[str, Any] = {}
    tries = 0
    for _, exercise in listed:
        result = documents.get(exercise / RESULTS)
        first = first or (result if "model" in result else {})
        tries = max(tries, len(sequence(result.get("tests_outcomes"))))
    # discard problems here: they are reported when the exercise is converted
    [*documents.problems()]
    return first, tries


def _run(folder: Path, first: dict[str, Any], tries: int, documents: Documents) -> Run:
    dated = [part for part in parts(first.get("testdir")) if _DATED.match(part)]
    name = dated[-1] if dated else folder.name
    commit = text(first.get("commit_hash"))
    effort = first.get("reasoning_effort")
    ref = documents.ref(folder)
    # as `summarize_results` prints it: passed at the last try, out of all exercises with a result
    headline = Reported(name=f"pass_rate_{tries or 1}", metric="pass_rate", headline=True, ref=ref)
    return Run(
        native_id=name,
        source=SourceInfo(name=NAME),
        name=name,
        subject=Subject(model=text(first.get("model")), agent="aider"),
        variant=non_empty(edit_format=text(first.get("edit_format")), reasoning_effort=text(effort)),
        suite=SUITE,
        reported=(headline,),
        code=CodeVersion(commit=commit) if commit else None,
        origin=str(folder),
        ref=ref,
    )


def _instructions(exercise: Path) -> str | None:
    """The prompt as aider assembles it."""
    texts = [text_file(exercise / ".docs" / name, cap=TEXT_CAP) for name in _DOCS]
    return "".join(filter(None, texts)) or None


def attempt_of(run: Run, name: str, exercise: Path, documents: Documents) -> Attempt:
    result = JsonFields(documents.get(exercise / RESULTS))
    ref = documents.ref(exercise / RESULTS)
    facts = _facts(exercise, result)
    log = documents.artefact(exercise / HISTORY, "transcript", clean=True)
    steps = steps_of_history(log.text or "", documents.ref(exercise / HISTORY)) if log else ()
    passed = facts.outcome == "pass"
    other = _other(result, run, exercise)
    is_there = is_file(exercise / RESULTS)
    return Attempt(
        run=run.id,
        case=case_key(run.suite, name),
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status="exception" if "exception" in result else "",
        reported=float(passed) if is_there else None,
        reported_counted=is_there,
        output=Output(text=last_answer(steps)),
        limit=_limit(result) if facts.execution == "limit" else None,
        errors=_errors(result, ref),
        checks=_checks(result, ref),
        steps=steps,
        artefacts=(log,) if log and log.truncated else (),
        usage=UsageByRole(subject=_usage(result)),
        duration=number(result.take("duration")),
        ref=ref,
        extra=rest(result.rest()) | other,
    )


def _facts(exercise: Path, result: JsonFields) -> Facts:
    if not is_file(exercise / RESULTS):
        return MISSING
    if "exception" in result:
        return Facts("error", "not_run", "none")
    outcomes = sequence(result.take("tests_outcomes"))
    if not outcomes:
        return Facts("completed", "unscored", "none")
    if outcomes[-1] is True:
        return Facts("completed", "scored", "pass")
    # an answer that exceeds the context window ends one try; a later try may still fit
    return Facts("limit" if count(result.get("num_exhausted_context_windows")) else "completed", "scored", "fail")


def _limit(result: JsonFields) -> Limit:
    return Limit(type="context", extra={"exhausted_context_windows": result.get("num_exhausted_context_windows")})


def _errors(result: JsonFields, ref: SourceRef) -> tuple[ErrorInfo, ...]:
    """aider stores an exception only as its traceback."""
    if "exception" not in result:
        return ()
    traceback = text(result.take("exception")).strip()
    kind, _, message = traceback.rpartition("\n")[2].partition(": ")
    return (
        ErrorInfo(
            type=kind or "Exception",
            message=redact(message or kind),
            traceback=redact(traceback),
            ref=ref.below("exception"),
        ),
    )


def _checks(result: JsonFields, ref: SourceRef) -> tuple[Check, ...]:
    """The last try decides; earlier tries, timeouts and malformed responses do not count."""
    outcomes = sequence(result.take("tests_outcomes"))
    tries = [
        Check(
            name=f"try {at + 1}",
            kind="tests",
            status="pass" if passed is True else "fail",
            order=at,
            counts=at == len(outcomes) - 1,
            ref=ref.below("tests_outcomes", at),
        )
        for at, passed in enumerate(outcomes)
    ]
    beside = [
        Check(
            name=key,
            status="fail" if times else "pass",
            value=times,
            counts=False,
            order=len(tries),
            ref=ref.below(key),
        )
        for key in ("test_timeouts", "num_malformed_responses")
        if (times := count(result.take(key))) is not None
    ]
    return (*tries, *beside)


def _usage(result: JsonFields) -> Usage:
    """The log has a cost of 0 for models without a price."""
    tokens = count(result.take("prompt_tokens"))
    cost = cost_number(result.take("cost")) or None
    return Usage(
        input=tokens,
        output=count(result.take("completion_tokens")),
        reasoning=count(result.take("thinking_tokens")),
        **reported_cost(cost),
    )


def _other(result: JsonFields, run: Run, exercise: Path) -> dict[str, Any]:
    """JsonFields that repeat the run's, kept only where they differ."""
    model, edit_format, commit = result.take("model"), result.take("edit_format"), result.take("commit_hash")
    testcase, testdir = result.take("testcase"), result.take("testdir")
    return non_empty(
        model=model if model != run.subject.model else None,
        edit_format=edit_format if edit_format != run.variant.get("edit_format") else None,
        commit_hash=commit if run.code is None or commit != run.code.commit else None,
        testcase=testcase if testcase != exercise.name else None,
        testdir=testdir if parts(testdir)[-1:] != [exercise.name] else None,
    )


def steps_of_history(history: str, ref: SourceRef) -> tuple[Step, ...]:
    """In `.aider.chat.history.md`, `####` marks prompts and `>` marks aider's own output."""
    turns: list[tuple[ActorRole, list[str], int]] = []
    for line_number, line in enumerate(history.splitlines(), start=1):
        # an empty line belongs to the speaker before it
        role, words = _spoken(line) if line.strip() or not turns else (turns[-1][0], "")
        if not turns or turns[-1][0] != role:
            turns.append((role, [], line_number))
        turns[-1][1].append(words)
    texts = [(role, "\n".join(lines).strip(), line_number) for role, lines, line_number in turns]
    kept = [turn for turn in texts if turn[1]]
    return tuple(
        Step(
            index=index,
            actor=Actor(role=role, name="aider" if role == "environment" else ""),
            kind="log" if role == "environment" else "message",
            text=words,
            ref=SourceRef(file=ref.file, line=line_number),
        )
        for index, (role, words, line_number) in enumerate(kept)
    )


def _spoken(line: str) -> tuple[ActorRole, str]:
    if line.startswith(_STARTED):
        return "environment", line
    for mark, role in _MARKS:
        if line.startswith(f"{mark} ") or line == mark:
            return role, line.removeprefix(mark).removeprefix(" ")
    return "assistant", line
