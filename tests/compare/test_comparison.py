"""What a comparison is made of, over logs of several harnesses."""

import pytest

from errata.compare.comparison import ComparisonOptions
from errata.errors import ErrataError, NotComparableError
from errata.model import Case, ErrorInfo, Subject
from errata.runs.names import runs_named
from errata.runs.runset import runs_to_compare
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import run_by_id
from errata.testing import a_run, an_attempt
from errata.verbs.compare import compare

RATE_LIMIT = ErrorInfo(type="RateLimitError", message="429 Too Many Requests", phase="subject")
NOT_SERVED = {"execution": "error", "measurement": "not_run", "outcome": "none", "errors": (RATE_LIMIT,)}
KEY = "sk-ant-api03-abcdefghijklmnopqrstuvwx"


def put(store, model, *tries, cases=()):
    """A run of a model; each try is a case and what it came to."""
    run = a_run(native_id=f"run of {model}", subject=Subject(model=model))
    given = [Case(run=run.id, suite="suite", native_id=name, input=text) for name, text in cases]
    seen: dict[str, int] = {}
    for name, changes in tries:
        seen[name] = seen.get(name, 0) + 1
        given.append(an_attempt(**{"run": run.id, "case": f"suite/{name}", "index": seen[name]} | changes))
    with Importing(store) as importing:
        for batch in seal(pack_items([run, *given])):
            importing.add(batch)
        importing.finish()
    return run_by_id(store, run.id)


def went(**outcomes):
    return [(name, {"outcome": outcome}) for name, outcome in outcomes.items()]


def compared(store, *runs, **wish):
    return compare(runs, store, ComparisonOptions(**wish))


def named(store, fixtures, *paths):
    return list(runs_named([str(fixtures / "sources" / path) for path in paths], store))


def test_a_failure_that_says_nothing_about_the_model_is_out_of_the_second_figure(store):
    first = put(store, "m", *went(a="pass", b="pass"))
    second = put(store, "n", ("a", NOT_SERVED), *went(b="pass"))
    (pair,) = compared(store, first, second).pairings

    assert (pair.all.only_second_fails, pair.clean.only_second_fails) == (1, 0)
    assert (pair.all.shared, pair.clean.shared) == (2, 1)


def test_of_several_attempts_one_that_was_not_served_takes_nothing_from_the_others(store):
    first = put(store, "m", *went(a="pass"), *went(a="pass"))
    second = put(store, "n", *went(a="fail"), ("a", NOT_SERVED))
    (pair,) = compared(store, first, second).pairings

    assert (pair.all.only_second_fails, pair.clean.only_second_fails) == (1, 1)


def test_what_a_case_asks_is_redacted_before_it_is_cut(store):
    asks = [("a", f"Use the key {KEY} to log in and then tell me what is there")]
    found = compared(
        store, put(store, "m", *went(a="fail", b="pass"), cases=asks), put(store, "n", *went(a="fail", b="fail"))
    )

    assert found.asks.keys() == {"suite/a"}
    assert "sk-ant" not in found.asks["suite/a"]


def test_a_case_may_have_several_categories(store):
    run = a_run(native_id="1", subject=Subject(model="m"))
    case = Case(run=run.id, suite="suite", native_id="a", category="x", tags=("x", "y"))
    with Importing(store) as importing:
        for batch in seal(pack_items([run, case, an_attempt(run=run.id, case="suite/a")])):
            importing.add(batch)
        importing.finish()
    found = compared(store, run_by_id(store, run.id), put(store, "n", *went(a="fail")))

    assert found.cases["suite/a"].categories == ("x", "y")
    assert [(one.name, one.failed_rows) for one in found.categories] == [("x", 2), ("y", 2)]


def test_the_answer_that_an_earlier_session_gave_takes_part_in_no_second_figure(store, fixtures):
    sonnet, haiku = named(store, fixtures, "scylla/large/batch-gen1/data", "scylla/batch-cascade/data")
    found = compared(store, haiku, sonnet, common=True)

    assert found.columns[1].scores["clean"].recovered
    assert (found.pairings[0].clean.only_first_fails, found.pairings[0].clean.only_second_fails) == (0, 0)


@pytest.mark.parametrize("path", ["promptfoo/export/data", "harbor/large/terminal-bench/data"])
def test_the_runs_of_one_file_or_folder_can_be_compared(store, fixtures, path):
    runs = named(store, fixtures, path)
    found = compared(store, *runs)

    assert len(found.columns) == len(runs) > 1
    assert len({one.label for one in found.columns}) == len(runs)
    assert not any(one.refuses for one in found.differences)


def test_runs_that_did_not_try_the_same_cases_are_not_comparable(store):
    with pytest.raises(NotComparableError) as refused:
        compared(store, put(store, "m", *went(a="pass", b="pass")), put(store, "n", *went(a="pass")))

    assert refused.value.hint.splitlines() == [
        "cases: 2 of 2 in m; 1 of 2 in n",
        "`--common` compares the 1 case that every run measured",
    ]


def test_a_file_with_one_run_is_no_comparison(store, fixtures):
    with pytest.raises(ErrataError, match="needs two runs or more"):
        runs_to_compare([str(fixtures / "sources" / "convex_evals/run_d/data")], store)
