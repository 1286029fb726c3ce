"""Traces state no number of their own."""

import pytest
from test_reported_numbers import NO_HEADLINE, data, named, recomputed


@pytest.mark.parametrize("path", data("otlp"), ids=named)
def test_traces_have_no_headline(path):
    for _, run, score in recomputed(path):
        assert (run.reported, score["note"]) == ((), NO_HEADLINE)
