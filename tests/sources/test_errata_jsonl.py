"""errata's own JSON Lines: what is written comes back, and what people write by hand is read as far as it goes."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from errata.model import (
    Actor,
    Attempt,
    Case,
    Check,
    ErrorInfo,
    Item,
    Output,
    Run,
    SourceInfo,
    SourceRef,
    Step,
    Subject,
    ToolCall,
    Unreadable,
    Usage,
    UsageByRole,
)
from errata.sources import errata_jsonl

FIXTURES = Path(__file__).parents[1] / "fixtures" / "sources" / "errata_jsonl"
HANDMADE = FIXTURES / "handmade" / "data" / "run.jsonl"
EXPORTED = FIXTURES / "exported" / "data" / "two-runs.jsonl"


def attempts(path: Path) -> list[Attempt]:
    return [item for item in errata_jsonl.read(path) if isinstance(item, Attempt)]


def reasons(path: Path) -> list[str]:
    return [item.why for item in errata_jsonl.read(path) if isinstance(item, Unreadable)]


words = st.text(max_size=8)
names = st.text(min_size=1, max_size=8)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(words, children, max_size=3),
    max_leaves=8,
)
refs = st.builds(SourceRef, file=names, line=st.none() | st.integers(1, 10**6), pointer=words)
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
checks = st.builds(Check, name=names, status=st.sampled_from(("pass", "fail")), value=numbers | words | st.booleans())
calls = st.builds(ToolCall, name=names, arguments=plain)
steps = st.builds(
    Step,
    index=st.integers(0, 99),
    actor=st.builds(Actor, role=st.sampled_from(("user", "tool"))),
    text=words,
    tool_calls=st.lists(calls, max_size=2).map(tuple),
)


@st.composite
def logs(draw: st.DrawFn) -> list[Item]:
    made_runs = [
        Run(
            native_id=name,
            source=SourceInfo(name=draw(names)),
            subject=Subject(model=draw(words), params=draw(st.dictionaries(words, plain, max_size=2))),
            extra=draw(st.dictionaries(words, plain, max_size=2)),
            ref=draw(refs),
        )
        for name in draw(st.lists(names, min_size=1, max_size=3, unique=True))
    ]
    others: list[Item] = []
    for number in range(draw(st.integers(0, 4))):
        run = draw(st.sampled_from(made_runs))
        others.append(Case(run=run.id, suite=draw(words), native_id=draw(names), input=draw(plain), ref=draw(refs)))
        others.append(
            Attempt(
                run=run.id,
                case=draw(names),
                index=number + 1,
                execution="error",
                measurement="not_run",
                outcome="none",
                output=Output(text=draw(st.none() | words), structured=draw(plain)),
                errors=(ErrorInfo(type=draw(words), message=draw(words), phase="tool"),),
                checks=tuple(draw(st.lists(checks, max_size=2))),
                steps=tuple(draw(st.lists(steps, max_size=2))),
                usage=UsageByRole(subject=Usage(cost=draw(numbers))),
                ref=draw(refs),
            )
        )
        others.append(Unreadable(source=draw(names), where=draw(words), why=draw(words), ref=draw(refs)))
    return [*made_runs, *draw(st.permutations(others))]


@given(logs())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_what_is_written_comes_back_as_it_was(tmp_path: Path, items: list[Item]):
    path = tmp_path / "export"
    path.write_bytes(b"".join(errata_jsonl.write(items)))

    assert list(errata_jsonl.read(path)) == items


def test_where_a_run_lay_is_not_written():
    run = Run(native_id="a", source=SourceInfo(name="x"), origin="/home/someone/logs")

    assert b"someone" not in next(errata_jsonl.write([run]))


def test_where_a_run_says_it_lay_is_not_believed():
    runs = [item for item in errata_jsonl.read(EXPORTED) if isinstance(item, Run)]

    assert [run.origin for run in runs] == ["", ""]


def test_an_exported_run_keeps_its_identity():
    first, *_ = errata_jsonl.read(EXPORTED)

    assert isinstance(first, Run)
    assert (first.id, first.source.name) == ("00000000000000aa", "convex-evals")


def test_runs_may_be_interleaved():
    assert [attempt.run for attempt in attempts(EXPORTED)] == ["00000000000000aa", "00000000000000bb"]


def test_an_attempt_that_names_no_run_belongs_to_the_run_above_it():
    run, *_ = errata_jsonl.read(HANDMADE)

    assert isinstance(run, Run)
    assert {attempt.run for attempt in attempts(HANDMADE)} == {run.id}


def test_a_repeated_attempt_gets_an_id_of_its_own_and_says_whom_it_repeats():
    first, second = attempts(HANDMADE)

    assert (second.index, second.duplicate_of) == (2, first.id)


@pytest.mark.trap(13)
def test_a_bare_nan_is_no_number():
    assert attempts(HANDMADE)[1].reported is None


def test_a_wrong_type_is_unreadable_with_the_path_to_it():
    assert "ValidationError: Expected `int`, got `str` - at `$.record.index`" in reasons(HANDMADE)
