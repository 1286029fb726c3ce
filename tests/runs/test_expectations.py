"""What the cases of a run asked for."""

import json

from errata.runs.failures import FEW, Expectations
from errata.runs.log_search import look_for
from errata.store.runs import all_runs
from errata.testing import an_attempt
from errata.verbs.analyze import analyze


def expectations(store, tmp_path, count):
    rows = [{"id": f"case-{number}", "want": f"answer {number}", "ok": False} for number in range(count)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "map.toml").write_text('[case]\nname = "id"\nexpected = "want"\n[attempt]\npassed = "ok"\n')
    analyze(look_for([tmp_path / "rows.jsonl"], map_path=tmp_path / "map.toml"), store)
    (stored,) = all_runs(store)
    return Expectations(stored, store)


def test_every_case_is_answered_however_many_are_asked_for(store, tmp_path):
    asked = expectations(store, tmp_path, 2 * FEW)

    assert [asked.of(an_attempt(case=f"case-{number}")) for number in range(2 * FEW)] == [
        f"answer {at}" for at in range(2 * FEW)
    ]


def test_a_case_that_is_not_there_asks_for_nothing(store, tmp_path):
    assert expectations(store, tmp_path, 1).of(an_attempt(case="nothing")) == ""
