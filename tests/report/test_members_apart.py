"""In the report of a run, what nobody has reviewed is apart from the reviewed members of its bucket."""

import pytest

from bucket_runs import a_stored_run, a_verdict, bucket_at, read, suggested
from errata.report.run_collect import run_report
from errata.runs.view import RunView

DISK = "OSError:no space left on the volume"


@pytest.mark.req("J-15", "J-30")
def test_unreviewed_members_of_a_final_bucket_are_a_row_of_their_own(store):
    stored = a_stored_run(store, a=DISK, b=DISK, c=DISK, d=DISK, e=DISK)
    suggested(store)
    slug = bucket_at(store, stored, "a").slug
    read(store, *(a_verdict(stored, case, slug, cause="The quota is too small") for case in "abc"))

    patterns = run_report(RunView(stored, store), made="2026-05-01").patterns

    assert [(one.title, one.status, one.rows, one.reviewed) for one in patterns] == [
        ("The quota is too small", "final", 3, 3),
        ("no space left on the volume", "assigned", 2, 0),
    ]
