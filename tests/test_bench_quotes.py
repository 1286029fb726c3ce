"""The benchmark of quotes, over a sample of its cases."""

from functools import cache, partial

import pytest
from bench.quotes.__main__ import FLOOR, misleads, reasons
from bench.quotes.honest import FORMS, honest
from bench.quotes.misleading import Case, fresh, misleading

LANGUAGES = ("English", "German", "French", "Spanish", "Russian", "Chinese", "Japanese", "Korean", "Arabic", "Hindi")

misleading_sample = cache(partial(misleading, 400, seed=1))
honest_sample = cache(partial(honest, 200, seed=1))


@pytest.mark.req("B-88")
def test_no_misleading_quote_is_kept_without_the_rest_of_its_lines():
    assert [case for case in misleading_sample() if misleads(case)] == []


def test_no_misleading_quote_that_was_written_after_the_rules_is_kept_so():
    assert [case for case in fresh() if misleads(case)] == []


def test_honest_quotes_are_accepted():
    refused = [case for case in honest_sample() if reasons(case)]

    assert len(refused) <= (1 - FLOOR) * len(honest_sample()), refused


def test_the_sample_has_every_language_and_form():
    assert {case.language for case in misleading_sample()} == {*LANGUAGES, "code", "elision"}
    assert {case.form for case in honest_sample()} == set(FORMS)


def test_a_misleading_quote_is_in_its_text_and_not_all_of_it():
    for case in misleading_sample():
        for part in case.quote.split(" … "):
            assert part.strip("… ") in case.text
        assert case.quote != case.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_whole_line_of_a_misleading_quote_is_accepted(language):
    """So it is the cut that is refused, not the language."""
    for case in misleading_sample():
        if case.language == language:
            lines = [line for line in case.text.replace("not\n", "not ").split("\n") if case.quote in line]
            assert reasons(Case(language, case.form, case.text, lines[0])) == (), lines
