"""Chat messages as steps, whatever stands in the place of a role."""

import pytest

from errata.sources.shared.chat import steps_of_chat


@pytest.mark.parametrize("role", [{}, [], None, 1, True])
def test_a_role_that_is_no_word_is_somebody_in_the_environment(role):
    (step,) = steps_of_chat([{"role": role, "content": "hello"}])

    assert (step.actor.role, step.text) == ("environment", "hello")
