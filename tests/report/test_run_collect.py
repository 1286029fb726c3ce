"""What a report takes from earlier ones."""

from types import SimpleNamespace

import pytest

from errata.model.prior_report import PriorReport
from errata.report.run_collect import _history


@pytest.mark.req("B-52")
def test_only_what_people_wrote_is_quoted_as_their_patterns():
    by_hand = PriorReport(path="a.md", digest="", date="2026-02-12", patterns=("Reserved names and validators.",))
    own = PriorReport(path="b.md", digest="", date="2026-02-20", own=True, patterns=("Wrong answers in coding",))

    found = list(_history(SimpleNamespace(reports=SimpleNamespace(same_model=(own, by_hand)))))

    assert [(one.date, one.patterns) for one in found] == [
        ("2026-02-12", ("Reserved names and validators.",)),
        ("2026-02-20", ()),
    ]
