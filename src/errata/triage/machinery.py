"""Signals from what a source has already told apart: whose code crashed, and which checks are limits."""

from collections.abc import Iterator

from errata.model import Attempt, Case
from errata.triage.observed import Observed, signal


def crashed_in_the_harness(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """The source names a frame with its package only where nobody but the harness's own code was at work."""
    for at, error in enumerate(attempt.errors):
        # a limit is raised by the harness's code too, on purpose
        if error.frame.startswith(HARNESSES) and not error.recovered and not error.type.endswith("TimeoutError"):
            found = signal("harness_frame", "likely", f"errors[{at}].frame", error.frame, error.ref)
            yield Observed(signal=found, owner="harness")
            return


HARNESSES = ("inspect_ai/", "harbor/", "terminal_bench/", "scylla/")


def only_a_limit_failed(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """The answer was good enough; it was too dear or too slow."""
    failed = [check for check in attempt.checks if check.status == "fail" and check.counts]
    if failed and all(check.kind == "limit" for check in failed):
        told = signal("limit_exceeded", "certain", f"checks[{failed[0].name}]", failed[0].explanation, failed[0].ref)
        yield Observed(signal=told, owner="budget")


MEANS = {
    "harness_frame": "a mistake in the harness's own code",
    "limit_exceeded": "only a limit of cost or time was exceeded",
}
