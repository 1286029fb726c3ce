"""Arbitrary records for hypothesis: any text, any number, every word of the vocabularies."""

from typing import Any, get_args

from hypothesis import strategies as st

from errata.model import (
    Artefact,
    Attempt,
    Check,
    ErrorInfo,
    Invalidation,
    Judgement,
    Limit,
    Output,
    SourceRef,
    Step,
    ToolCall,
    ToolError,
    ToolResult,
    Unreadable,
    Usage,
    UsageByRole,
)
from errata.model.step import Actor
from errata.model.words import (
    ActorRole,
    ArtefactRole,
    CheckKind,
    CheckStatus,
    Execution,
    Measurement,
    Outcome,
    Phase,
    StepKind,
)


def words(vocabulary: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(get_args(vocabulary))


texts = st.text(st.characters(codec="utf-8"), max_size=12)
whole = st.integers(-(2**63), 2**63 - 1)
numbers = st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    st.none() | st.booleans() | whole | numbers | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
extras = st.dictionaries(texts, plain, max_size=2)
refs = st.none() | st.builds(SourceRef, file=texts, member=texts, line=st.none() | st.integers(1, 10**9), pointer=texts)


def some(*kinds: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(st.one_of(*kinds), max_size=2).map(tuple)


errors = st.builds(ErrorInfo, type=texts, message=texts, phase=words(Phase), code=texts, ref=refs, at=st.none() | texts)
usages = st.builds(
    Usage,
    input=st.none() | st.integers(0, 10**12),
    output=st.none() | st.integers(0, 10**12),
    total=st.none() | st.integers(0, 10**12),
    cost=st.none() | st.floats(0, 1e9),
)
checks = st.builds(
    Check,
    name=texts,
    status=words(CheckStatus),
    judge=texts,
    order=st.integers(0, 99),
    kind=words(CheckKind),
    value=st.none() | numbers | texts | st.booleans(),
    counts=st.booleans(),
    explanation=texts,
    error=st.none() | errors,
)
calls = st.builds(
    ToolCall,
    name=texts,
    arguments=plain,
    arguments_raw=texts,
    result=st.none() | st.builds(ToolResult, text=texts, structured=plain, is_error=st.none() | st.booleans()),
    error=st.none() | st.builds(ToolError, type=texts, message=texts),
)
steps = st.builds(
    Step,
    index=st.integers(0, 10**6),
    actor=st.builds(Actor, role=words(ActorRole), name=texts),
    kind=words(StepKind),
    text=texts,
    reasoning=texts,
    parts=some(extras),
    tool_calls=some(calls),
    error=st.none() | errors,
    usage=st.none() | usages,
)
artefacts = st.builds(Artefact, role=words(ArtefactRole), path=texts, size=st.none() | whole, text=st.none() | texts)
outputs = st.builds(Output, text=st.none() | texts, structured=plain, answer=st.none() | texts)
unreadables = st.builds(Unreadable, source=texts, where=texts, why=texts, excerpt=texts, ref=refs)

attempts: st.SearchStrategy[Attempt] = st.builds(
    Attempt,
    run=st.just("0" * 16),
    case=texts | st.sampled_from(["suite/a", "suite/b-1", "suite/b-2"]),
    index=st.integers(1, 5),
    session=st.none() | st.integers(0, 5),
    path=texts,
    parent=st.none() | texts,
    position=st.none() | st.integers(0, 99),
    superseded_by=st.none() | texts,
    duplicate_of=st.none() | texts | st.just(f"{'0' * 16}:suite/a#1"),
    follows=st.none() | texts,
    execution=words(Execution),
    measurement=words(Measurement),
    outcome=words(Outcome),
    threshold=st.none() | numbers,
    reported=st.none() | numbers,
    native_status=texts,
    output=outputs,
    stop_reason=texts | st.just("length"),
    limit=st.none() | st.builds(Limit, type=texts, value=st.none() | numbers),
    errors=some(errors),
    checks=some(checks),
    judgements=some(st.builds(Judgement, judge=texts, reasoning=texts, valid=st.booleans(), raw=plain)),
    steps=some(steps),
    artefacts=some(artefacts),
    usage=st.builds(UsageByRole, subject=usages, judge=usages, simulator=usages),
    started_at=st.none() | texts,
    duration=st.none() | numbers,
    durations=st.dictionaries(texts, numbers, max_size=2),
    seed=st.none() | whole,
    exit_code=st.none() | whole,
    invalidated=st.none() | st.builds(Invalidation, by=texts, why=texts),
    links=st.dictionaries(texts, texts, max_size=2),
    extra=extras,
    ref=refs,
)
