"""Why there is nothing to read, in words: a filter that fits nothing is not a review that is done."""

from errata.cli.output import plural
from errata.model.failure import Filters
from errata.model.verdict import word_for
from errata.review.lease import LeaseRequest, NothingWaiting


def why_nothing(found: NothingWaiting, asked: LeaseRequest, run: str) -> str:
    """For whoever asked for the next failure of a run."""
    word = word_for(asked.reviewer)
    if not found.failures:
        return no_failure(asked.filters, run)
    if found.in_hand:
        hint = f"hand them in, or give them back with `errata review release {run}`"
        return f"all that is waiting is in the hands of `{word}` already, {found.in_hand:,} in all: {hint}"
    if asked.second:
        return f"nothing that others have read is waiting for `{word}`"
    told = f"nothing is waiting for `{word}`: {found.read:,} of {plural(found.failures, 'failure')} read"
    return f"{told}; `--second` gives {found.others:,} that others have read" if found.others else told


def no_failure(filters: Filters, *runs: str) -> str:
    whose = ", ".join(f"`{run}`" for run in runs)
    named = {"--case": filters.case, "--owner": filters.owner, "--bucket": filters.bucket}
    given = " ".join(f"{name} {value}" for name, value in named.items() if value)
    return f"no failure of {whose} matches `{given}`" if given else f"there are no failures in {whose}"
