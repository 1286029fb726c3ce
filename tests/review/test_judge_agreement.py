"""How far several judges of the same attempts say the same."""

import pytest

from errata.model import Check, Judgement
from errata.runs.names import runs_named
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import all_runs
from errata.testing import a_run, an_attempt
from errata.verbs.review import judges_agreement


def of(store, fixtures, path):
    return judges_agreement(list(runs_named([str(fixtures / "sources" / path)], store)), store)


def judged(store, *attempts):
    run = a_run()
    made = [an_attempt(run=run.id, case=f"suite/case-{at}", **given) for at, given in enumerate(attempts)]
    with Importing(store) as importing:
        for batch in seal(pack_items([run, *made])):
            importing.add(batch)
        importing.finish()
    return judges_agreement(all_runs(store), store)


def said(**passes):
    """What each judge says of an attempt; `None` for an answer that is no judgement."""
    return {
        "judgements": tuple(
            Judgement(judge=judge, valid=passed is not None, raw={"passed": bool(passed)})
            for judge, passed in passes.items()
        )
    }


def question(found, name):
    return next(one for one in found.questions if one.name == name)


def test_three_judges_of_a_real_study(store, fixtures):
    found = of(store, fixtures, "scylla/haiku-tables/data")
    overall = question(found, "overall")

    assert (found.attempts, found.shared) == (18, 18)
    assert [(one.judged, one.passes, one.fails) for one in found.judges] == [(15, 12, 3), (18, 15, 3), (18, 11, 7)]
    assert [(pair.both, pair.same, round(pair.kappa, 2)) for pair in overall.agreement.pairs] == [
        (15, 15, 1.0),
        (15, 11, 0.44),
        (18, 14, 0.48),
    ]
    assert len(overall.disputes) == 4


def test_the_scores_of_two_judges_are_so_far_apart(store, fixtures):
    found = of(store, fixtures, "scylla/haiku-tables/data")

    assert [(gap.both, round(gap.apart, 3)) for gap in found.gaps] == [(15, 0.069), (15, 0.244), (18, 0.205)]


@pytest.mark.trap(18)
def test_an_invalid_judge_is_told_and_agrees_with_nobody(store, fixtures):
    found = of(store, fixtures, "scylla/large/batch-gen1/data")
    third = found.judges[2]

    assert (third.name, third.judged, third.invalid) == ("judge_03 (judge-small-1)", 18, 6)
    assert [(pair.both, pair.same) for pair in question(found, "overall").agreement.pairs] == [
        (24, 24),
        (18, 17),
        (18, 17),
    ]


def test_a_judge_without_a_word_on_the_whole_fails_what_it_fails_in_part(store, fixtures):
    found = of(store, fixtures, "conversation_bench/two_judges/data")
    overall = question(found, "overall")

    assert [one.case for one in overall.disputes] == ["turn-1", "turn-3"]
    assert overall.disputes[0].verdicts == {"openai (judge-large-1)": "fail", "claude (judge-small-1)": "pass"}


def test_each_check_that_two_judges_rated_is_a_question_of_its_own(store, fixtures):
    found = of(store, fixtures, "conversation_bench/two_judges/data")

    assert [(one.name, len(one.disputes)) for one in found.questions[1:3]] == [
        ("tool_use_correct", 1),
        ("turn_taking", 1),
    ]


def test_perfect_agreement_is_one(store):
    found = judged(store, said(a=True, b=True), said(a=False, b=False))

    assert question(found, "overall").agreement.alpha == 1.0


def test_an_attempt_with_one_judge_is_no_agreement(store):
    found = judged(store, said(a=True), said(b=False))

    assert (found.attempts, found.shared, found.questions) == (2, 0, ())


def test_two_judges_who_measure_different_things_do_not_disagree(store):
    checks = (Check(name="style", judge="a", status="pass"), Check(name="truth", judge="b", status="fail"))
    found = judged(store, {"judgements": (Judgement(judge="a"), Judgement(judge="b")), "checks": checks})

    assert found.questions == ()


def test_a_log_may_name_a_judge_in_every_row(store):
    rows = [said(**{f"judge-{at}": True, f"other-{at}": False}) for at in range(60)]
    found = judged(store, *rows)

    assert len(found.judges) == 20
    assert found.left_out == 100
