"""Demands of tests that the task does not make."""

import pytest
from test_js_tests import attempt, block, decided, log

from errata.model import Artefact

SWAPPED = block(" > a", "AssertionError: expected [ 'b', 'a' ] to deeply equal [ 'a', 'b' ]")
OTHERS = block(" > a", "AssertionError: expected [ 'b', 'c' ] to deeply equal [ 'a', 'b' ]")
TASK = "Write a query `find` in `convex/pages.ts` that returns all pages whose body matches the text (at most 20)."


@pytest.mark.parametrize(
    ("failed", "task", "code", "wanted"),
    [
        (SWAPPED, TASK, "query.take(20)", ("grader", "unnamed_order")),
        (SWAPPED, f"{TASK} Newest first.", "query.take(20)", ("model", "check_failed")),
        (SWAPPED, f"{TASK} Sorted by title.", "query.take(20)", ("model", "check_failed")),
        (SWAPPED, TASK, 'query.order("desc").take(20)', ("model", "check_failed")),
        (OTHERS, TASK, "query.take(20)", ("model", "check_failed")),
        (SWAPPED, "", "query.take(20)", ("model", "check_failed")),
    ],
)
def test_an_order_counts_only_where_somebody_names_one(failed, task, code, wanted):
    written = Artefact(role="output", path="convex/pages.ts", text=code)

    assert decided(attempt(log(failed), "tests failed (67%)", written), task) == wanted


NO_FUNCTION = block(
    " > a",
    "Error: [Request ID: 8d] Server Error",
    "Error: Could not find public function for 'pages:byTenant'. Did you forget to run `npx convex dev`?",
)


@pytest.mark.parametrize(
    ("task", "owner"),
    [
        ("Write a public query `searchByTenant` in convex/pages.ts.", "task"),
        ("Write a public query `byTenant` in convex/pages.ts.", "model"),
        ("Write queries for the table of pages.", "model"),
    ],
)
def test_a_function_that_the_task_does_not_name_is_the_tasks(task, owner):
    assert decided(attempt(log(NO_FUNCTION)), task)[0] == owner


def test_a_demand_beside_another_failure_is_only_a_doubt():
    assert decided(attempt(log(SWAPPED, OTHERS, failed=2)), TASK)[0] == "model"


@pytest.mark.parametrize(
    ("numbers", "task", "owner"),
    [
        (("0.30000000000000004", "0.3"), "Returns the sum of the amounts.", "grader"),
        (("0.30000000000000004", "0.3"), "Returns the sum, rounded to cents.", "model"),
        (("0.31", "0.3"), "Returns the sum of the amounts.", "model"),
    ],
)
def test_the_noise_of_binary_numbers_is_no_mistake(numbers, task, owner):
    received, expected = numbers
    failed = block(" > a", f"AssertionError: expected {received} to be {expected} // Object.is equality")

    assert decided(attempt(log(failed)), task)[0] == owner
