"""What a command writes into a report is what a later analysis reads there."""

import pytest

from errata.memory.actions_section import with_entry
from errata.memory.entries import entry_for
from errata.memory.reading.report import read_report
from errata.memory.spelling import CaseSpellings
from errata.memory.words import LabelWords
from errata.model import Action

CASES = ("000-fundamentals/002-http_greeting", "003-mutations/002-cascade_remove")
LIST = b"## Actions taken\n\nNone\n"
NARROW = b"## Actions taken\n\n| Change |\n|-|\n"
TABLE = b"## Actions taken\n\n| Date | File | Change | Evals | Author | Expected |\n|-|-|-|-|-|-|\n"


def an_action(**changes):
    given = {"what": "now ignores unused arguments", "path": "eslint.config.mjs", "addresses": CASES[:1]}
    return Action(**{"id": "1", "date": "2026-03-04"} | given | changes)


def read_back(report, action):
    text = with_entry(report, entry_for(action)).data.decode()
    (found,) = read_report(text, path="reports/a.md", labels=LabelWords(()), cases=CaseSpellings(CASES)).actions
    return found


@pytest.mark.req("C-32", "C-33")
@pytest.mark.parametrize("report", [LIST, TABLE, NARROW], ids=["list", "table", "one column"])
@pytest.mark.parametrize(
    "action",
    [
        an_action(),
        an_action(addresses=CASES),
        an_action(author="ben"),
        an_action(author="Ben O'Hara (QA)"),
        an_action(expected_effect="the case passes (in all runs)"),
        an_action(author="ana", expected_effect="the case passes"),
        an_action(what="works for now, by design (for a while)", author="ben"),
        an_action(path="evals/003-mutations/002-cascade_remove/TASK.txt", addresses=CASES[1:]),
        an_action(what="sets `no-unused-vars` to `args: none`"),
        an_action(date="2026-03-04T10:30:00Z"),
    ],
    ids=[
        "plain",
        "several cases",
        "author",
        "author in brackets",
        "expected",
        "both",
        "words",
        "path of a case",
        "code",
        "time",
    ],
)
def test_an_action_is_read_back(report, action):
    found = read_back(report, action)

    assert (found.date[:10], found.path, found.addresses) == (action.date[:10], action.path, action.addresses)
    assert found.what.replace("`", "") == action.what.replace("`", "")
    assert (found.author, found.expected_effect) == (action.author, action.expected_effect)
