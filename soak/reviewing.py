"""A review of a whole run by a model, as `errata review run` does it: `python -m soak.reviewing STORE URL`.

The command has no option for how long a call may take; a soak test can't wait three minutes for each that hangs.
Prints a line whenever the review of a packet has ended and is stored.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from errata.llm.spec import ModelSpec
from errata.model import Reviewer, StoredRun
from errata.model.times import now_as_text
from errata.review.choose_reviewer import ChosenReviewer, no_price
from errata.review.plan import ReviewPlan, ReviewRequest
from errata.review.reviewers.llm import opened_model
from errata.review.run import ReviewTally
from errata.review.spending import Limits
from errata.store.database import Store, open_store
from errata.store.runs import all_runs
from errata.verbs.review import plan_review, run_review


def chosen(spec: ModelSpec) -> ChosenReviewer:
    identity = Reviewer(kind="llm", name=spec.name)
    return ChosenReviewer(
        identity=identity,
        goes_to=spec.base_url,
        open=lambda limits, tools: opened_model(spec, identity, limits, tools),
        price=no_price,
    )


def planned(store: Store, stored: StoredRun, spec: ModelSpec, limits: Limits) -> ReviewPlan:
    request = ReviewRequest(chosen=chosen(spec), limits=limits)
    return plan_review([stored], store, request, now=now_as_text())


def reviewed(
    store: Store, plan: ReviewPlan, on_end: Callable[[ReviewTally], None] = lambda _tally: None
) -> ReviewTally:
    tally = ReviewTally(plan.packets)
    if plan.packets:
        run_review(plan, store, tally, on_end)
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("url")
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--timeout", type=float, default=180.0)
    given = parser.parse_args()
    store = open_store(given.store)
    (stored,) = all_runs(store)
    limits = Limits(parallel=given.parallel, timeout=given.timeout)
    plan = planned(store, stored, ModelSpec(name="m", base_url=given.url), limits)
    tally = reviewed(store, plan, lambda tally: print(tally.finished, flush=True))
    print(json.dumps({"failed": tally.failed, "reasons": list(tally.reasons), "stopped": tally.stopped}))


if __name__ == "__main__":
    main()
