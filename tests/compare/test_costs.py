"""What a pass costs: in all, by tier, and at the frontier."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tries import CRASHED, NOT_MADE, trials, tried

from errata.compare.costs import Spending, Tiers, cost_of, costs_of_pass, frontier
from errata.model import Reported, Usage, UsageByRole
from errata.model.words import CostNote
from errata.render.figures import cost_parts
from errata.testing import an_attempt


def spending(cost):
    return UsageByRole() if cost is None else UsageByRole(subject=Usage(cost=cost))


def bought(number, cost, outcome="pass", **changes):
    return tried(number, outcome, usage=spending(cost), **changes)


def a_run_below(path, cost, outcome="pass", **changes):
    given = {"case": "suite/case-1", "outcome": outcome, "path": path, "parent": "above", "usage": spending(cost)}
    return an_attempt(**given | changes)


def tiers_of(*attempts):
    found = Tiers()
    for attempt in attempts:
        found.add(attempt)
    return found


def priced(*attempts, parts=None, **run):
    whole = trials(*attempts, **run)
    members = {name: whole.only(cases) for name, cases in (parts or {}).items()}
    return cost_of(whole, members, tiers_of(*attempts))


def spent(*costs, passed):
    total = Spending()
    for at, cost in enumerate(costs):
        total.add(cost, passed=at < passed)
    return total


@pytest.mark.req("S-37")
def test_the_cost_of_a_pass_is_the_mean_cost_over_the_pass_rate():
    assert spent(0.2, 0.4, 0.6, passed=2).cost_of_pass == pytest.approx(0.4 / (2 / 3))


@pytest.mark.req("S-37")
def test_one_run_that_passed_costs_what_it_cost():
    assert spent(0.25, passed=1).cost_of_pass == 0.25


@pytest.mark.req("S-37")
@pytest.mark.trap(13)
def test_where_nothing_passed_there_is_no_price_and_no_infinity():
    found = spent(0.2, 0.4, passed=0)

    assert (found.cost_of_pass, found.note) == (None, CostNote.NOTHING_PASSED)


@pytest.mark.trap(12)
def test_an_unknown_cost_is_not_zero():
    found = spent(0.3, None, passed=2)

    assert (found.total, found.cost_of_pass, found.priced) == (0.3, 0.3, 1)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=20), st.integers(1, 20))
def test_a_pass_never_costs_less_than_the_mean_attempt(costs, passed):
    found = spent(*costs, passed=min(passed, len(costs)))

    assert found.cost_of_pass >= found.total / found.made - 1e-9


@pytest.mark.req("S-37")
def test_the_frontier_is_the_cheapest_tier():
    tiers = {"T0": spent(0.5, passed=1), "T1": spent(0.1, 0.1, passed=1), "T2": spent(0.01, passed=0)}

    assert frontier(tiers) == ("T1", 0.2)


def test_the_frontier_of_a_case_comes_from_its_runs():
    runs = [a_run_below(f"T0/0{at}/run_01", 0.06, "pass" if at < 2 else "fail") for at in range(3)]
    other = [a_run_below("T1/01/run_01", 0.5)]

    assert tiers_of(*runs, *other).frontiers == {"suite/case-1": pytest.approx(0.09)}


@pytest.mark.req("S-35")
def test_the_frontier_is_as_the_harness_states_it_where_it_does():
    found = tiers_of(an_attempt(cost_of_pass=0.17), a_run_below("T0/00/run_01", 0.1699))

    assert found.frontiers == {"suite/case-1": 0.17}


def test_of_several_sessions_the_latest_with_runs_counts():
    runs = [a_run_below("T0/00/run_01", cost, session=session) for session, cost in ((1, 0.1), (2, 0.2))]

    assert tiers_of(*runs).frontiers == {"suite/case-1": 0.2}


def test_a_run_that_was_cut_off_has_no_part_in_the_price():
    runs = [a_run_below("T0/00/run_01", 0.1), a_run_below("T0/00/run_02", 9.0, **CRASHED)]

    assert tiers_of(*runs).frontiers == {"suite/case-1": 0.1}


@pytest.mark.req("S-35")
def test_mean_and_median_are_of_the_passing_cases_at_their_frontier():
    whole = trials(tried(1), tried(2), tried(3), tried(4, "fail"))
    frontiers = {f"suite/case-{number}": cost for number, cost in enumerate((0.1, 0.2, 0.9, 0.01), 1)}

    found = costs_of_pass(whole, frontiers)

    assert (found.mean, found.median, found.priced) == (pytest.approx(0.4), 0.2, 3)


def test_where_nothing_passed_there_is_neither_mean_nor_median():
    found = costs_of_pass(trials(tried(1, "fail")), {"suite/case-1": 0.1})

    assert (found.mean, found.median, found.note) == (None, None, CostNote.NOTHING_PASSED)


def test_an_attempt_that_nobody_scored_is_no_failure_that_was_paid_for():
    unscored = bought(2, 0.5, "none", measurement="not_run")
    found = priced(bought(1, 0.25), unscored, bought(3, 0.125, "fail"))

    assert (found.total, found.of_passes, found.of_failures, found.of_unscored) == (0.875, 0.25, 0.125, 0.5)
    assert priced(unscored).of_failures is None


@pytest.mark.parametrize(
    ("agent", "user", "is_only"), [(None, 0.2, True), (0.1, 0.2, False), (0.1, None, False), (0.0, None, False)]
)
def test_the_cost_of_a_simulated_user_alone_is_marked(agent, user, is_only):
    usage = UsageByRole(subject=Usage(cost=agent), simulator=Usage(cost=user))

    assert priced(tried(1, usage=usage), tried(2, usage=usage)).is_simulator_only is is_only


def test_what_judges_and_a_simulated_user_cost_is_named_beside_the_total():
    usage = UsageByRole(subject=Usage(cost=0.5), judge=Usage(cost=0.125), simulator=Usage(cost=0.25))
    found = priced(tried(1, usage=usage), tried(2, usage=usage), bought(3, 0.5))

    assert (found.total, found.of_subject, found.of_judge, found.of_simulator) == (2.25, 1.5, 0.25, 0.5)
    assert cost_parts(found) == " (agent $1.50 · simulated user $0.50 · judge $0.25)"


def test_where_only_the_judge_has_a_price_the_agents_cost_is_unknown_and_not_zero():
    found = priced(tried(1, usage=UsageByRole(judge=Usage(cost=0.25))))

    assert cost_parts(found) == " (agent unknown · judge $0.25)"


def test_what_a_run_has_cost_is_told_of_passes_and_failures():
    found = priced(bought(1, 0.25), bought(2, 0.5, "fail"), bought(3, None, "fail"), tried(4, **NOT_MADE))

    assert (found.total, found.of_passes, found.of_failures) == (0.75, 0.25, 0.5)
    assert (found.per_pass, found.unknown) == (0.75, 1)


def test_the_frontier_of_a_run_is_told_where_the_harness_has_one():
    stated = Reported(name="frontier_cop", metric="frontier_cop", value=0.25)
    parts = {"T0": {"suite/case-1"}, "T1": {"suite/case-2"}}

    found = priced(bought(1, 0.5), bought(2, 0.25), parts=parts, reported=(stated,))

    assert (found.frontier.category, found.frontier.cost_of_pass, found.frontier.stated) == ("T1", 0.25, 0.25)


def test_prices_are_given_by_category_case_tier_and_subtest():
    runs = [a_run_below("T0/00/run_01", 0.5, case="suite/case-9")]

    found = priced(bought(1, 0.5), bought(1, 0.5, "fail", index=2), *runs, parts={"queries": {"suite/case-1"}})

    named = [(one.category, one.case, one.path, one.cost_of_pass) for one in found.prices]
    assert named == [
        ("queries", "", "", 1.0),
        ("", "suite/case-1", "", 1.0),
        ("", "suite/case-9", "T0", 0.5),
        ("", "suite/case-9", "T0/00", 0.5),
    ]


def test_what_a_simulated_user_cost_is_not_the_cost_of_a_pass():
    cost = priced(tried(1, usage=UsageByRole(simulator=Usage(cost=0.5))))

    assert (cost.total, cost.per_pass, cost.note) == (0.5, None, CostNote.SIMULATOR_ONLY)
