"""Attempts that are alike are counted together; every number is the same as one by one."""

import random
from dataclasses import fields

import pytest
from msgspec.structs import astuple, replace

from errata.checkup.alike import AlikeCounts
from errata.compare.summaries import RunTrials
from errata.compare.trials import NO_OPINIONS
from errata.model import Check, ErrorInfo, SourceRef, Subject, Usage
from errata.model.alike import itself
from errata.model.attempt import Output
from errata.model.usage import UsageByRole
from errata.runs.view import RunView
from errata.store.alike import alike_attempts
from errata.store.case_outcomes import cells_of
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import run_by_id
from errata.testing import a_run, an_attempt

PASS, FAIL = {"outcome": "pass", "reported": 1.0}, {"outcome": "fail", "reported": 0.0}
LONG = "é" * 70
KINDS = [
    *([PASS | {"checks": (Check(name="answer", status="pass", value=True),)}] * 6),
    *(
        [
            FAIL | {"checks": (Check(name="answer", status="fail", explanation=text),)}
            for text in ("wrong 1", "wrong 2", LONG)
        ]
        * 3
    ),
    FAIL
    | {"checks": (Check(name="a", status="fail", explanation="x"), Check(name="b", status="fail", explanation="y"))},
    FAIL
    | {"checks": (Check(name="a", status="pass"), Check(name="b", status="fail", explanation="y", reason_code="z"))},
    FAIL | {"checks": (Check(name="answer", status="fail", explanation="«explanation"),), "native_reason": "no"},
    PASS | {"checks": (Check(name="test_other-1", status="pass"),)},
    {
        "outcome": "none",
        "execution": "error",
        "measurement": "not_run",
        "errors": (ErrorInfo(type="E", message="429", phase="subject"),),
    },
    {"outcome": "none", "execution": "limit", "measurement": "not_run", "native_status": "EMPTY_RESPONSE"},
    {"outcome": "none", "execution": "missing", "measurement": "not_run"},
    {"outcome": "none", "execution": "completed", "measurement": "unscored"},
    PASS | {"output": Output(text="same")},
    PASS | {"usage": UsageByRole(subject=Usage(input=1, output=2, cost=0.1))},
    PASS | {"native_id": "own"},
    PASS | {"extra": {"task_id": "x"}},
    FAIL | {"duplicate_of": "r:suite/c#1"},
    FAIL | {"superseded_by": "r:suite/c#1"},
    FAIL | {"session": 2},
    FAIL | {"follows": "r:suite/c1#1"},
    FAIL | {"id": "r:another id"},
]


def a_log(run, chance, size):
    """Most of a few kinds, in an order by chance; every kind in one log or another."""
    usual = chance.sample(KINDS, 4)
    for number in range(size):
        kind = chance.choice(usual if chance.random() < 0.9 else KINDS)
        ref = SourceRef(file="log", line=number) if chance.random() < 0.95 else None
        given = {"run": run.id, "case": f"suite/c{number // 4}", "index": number % 4 + 1, "ref": ref} | kind
        if "id" in kind:
            given["id"] += str(number)
        yield an_attempt(**given)


@pytest.fixture
def stored_runs(store):
    runs = []
    for seed in range(30):
        chance = random.Random(seed)
        run = a_run(native_id=f"run-{seed}", subject=Subject(model="m"))
        with Importing(store) as importing:
            for batch in seal(pack_items([run, *a_log(run, chance, 80)])):
                importing.add(batch)
            importing.finish()
        runs.append(run_by_id(store, run.id))
    return runs


def test_every_number_is_the_same_as_one_by_one(stored_runs, store):
    were_alike = 0
    for stored in stored_runs:
        view = RunView(stored, store)
        plain, alike = AlikeCounts(view._survey()), AlikeCounts(view._survey())
        one_by_one = [itself(each) for each in view.attempts()]
        opinions, by_number = view.opinions_in_brief()
        together = list(alike_attempts(store, stored.pk, alike.counts_alike, by_number))
        were_alike += sum(not each.is_itself for each in together)

        assert [(each.case, each.number) for each in together] == [(each.case, each.number) for each in one_by_one]
        for counts, attempts in ((plain, one_by_one), (alike, together)):
            for each in attempts:
                counts.add(each)
        first, second = plain.finish(), alike.finish()
        for field in fields(first):
            assert getattr(second, field.name) == getattr(first, field.name), field.name
            if isinstance(getattr(first, field.name), dict):
                assert list(getattr(second, field.name)) == list(getattr(first, field.name)), field.name

        expected = RunTrials(stored.run, one_by_one, view.opinions, timeouts="count", to_pool=True)
        counted = RunTrials(stored.run, together, opinions, timeouts="count", to_pool=True)
        assert _as_counted(counted.trials) == _as_counted(expected.trials)
        _assert_same_numbers(counted, expected)
    assert were_alike > 500


def test_attempts_at_one_case_that_come_together_change_no_number(stored_runs, store, monkeypatch):
    """Few are read at a time, so that most of each run come after the first of their kind were counted."""
    monkeypatch.setattr("errata.store.alike.FETCH", 8)
    came_together = 0
    for stored in stored_runs:
        view = RunView(stored, store)
        opinions, by_number = view.opinions_in_brief()
        plain, alike = AlikeCounts(view._survey()), AlikeCounts(view._survey())
        one_by_one = [itself(each) for each in view.attempts()]
        for each in one_by_one:
            plain.add(each)
        seen = []

        def watched(counts, stored, by_number, seen):
            for each in alike_attempts(store, stored.pk, counts.counts_alike, by_number):
                counts.add(each)
                seen.append(each)
                yield each

        expected = RunTrials(stored.run, one_by_one, view.opinions, timeouts="count", to_pool=True)
        counted = RunTrials(
            stored.run, watched(alike, stored, by_number, seen), opinions, timeouts="count", to_pool=True
        )
        came_together += sum(each.often for each in seen if each.often > 1)

        assert alike.finish() == plain.finish()
        assert sum(each.often for each in seen) == len(one_by_one)
        assert list(counted.trials.counted) == list(expected.trials.counted)
        assert _sorted(counted.trials) == _sorted(expected.trials)
        _assert_same_numbers(counted, expected)
        cells = sorted(astuple(cell)[1:] for cell in cells_of(store, [stored.pk]))
        assert [tuple(cell) for cell in counted.cells] == cells
    assert came_together > 150


def _assert_same_numbers(counted, expected):
    assert counted.trials.earlier == expected.trials.earlier
    assert counted.trials.repeated == expected.trials.repeated
    assert (counted.patterns, counted.roots) == (expected.patterns, expected.roots)
    assert counted.scores == expected.scores
    assert counted.failed_checks == expected.failed_checks
    assert counted.cells == expected.cells


def _as_counted(trials):
    """Those that no policy lists may be one trial, with the id and number of none: no score shows these."""
    return {
        case: [replace(each, id="", index=0) if each.is_plain else each for each in tries]
        for case, tries in trials.counted.items()
    }


def _sorted(trials):
    """Of one case, those that come together come where the first of them is."""
    return {case: sorted(map(str, tries)) for case, tries in _as_counted(trials).items()}


def test_a_check_is_counted_once_for_an_attempt_and_only_where_it_failed():
    run = a_run()
    checks = (
        Check(name="lint", status="fail"),
        Check(name="lint", status="fail"),
        Check(name="tests", status="pass"),
        Check(name="style", status="fail", counts=False),
    )
    attempts = [an_attempt(run=run.id, checks=checks), an_attempt(run=run.id, index=2, checks=checks[:1])]

    counted = RunTrials(run, map(itself, attempts), NO_OPINIONS, timeouts="count", to_pool=False)

    assert counted.failed_checks == {"lint": {"suite/case-1": 2}}


def test_a_run_whose_attempts_are_all_of_their_own_is_read_one_by_one(store, monkeypatch):
    monkeypatch.setattr("errata.store.alike.TRIED", 10)
    monkeypatch.setattr("errata.store.alike.FETCH", 10)
    run = a_run(native_id="run", subject=Subject(model="m"))
    tries = [an_attempt(run=run.id, case=f"suite/{n}", output=Output(text=f"answer {n}")) for n in range(40)]
    with Importing(store) as importing:
        for batch in seal(pack_items([run, *tries])):
            importing.add(batch)
        importing.finish()
    asked = []

    attempts = list(alike_attempts(store, run_by_id(store, run.id).pk, lambda each: bool(asked.append(each))))

    assert [each.attempt for each in attempts] == tries
    assert len(asked) == 10
