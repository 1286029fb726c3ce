"""The causes of one run for its summary: its buckets, the largest first."""

from collections import Counter
from collections.abc import Iterable, Mapping

from errata.model import BucketPlace, CauseSummary


def summarise_causes(
    places: Mapping[str, BucketPlace], failures: Iterable[tuple[str, str]], owners: Mapping[str, str]
) -> list[CauseSummary]:
    """`failures` are the failed attempts in the order of the log, each with the name of its case.

    Of causes with equal counts, the slug decides, as in every list of causes. Attempts in no bucket are left out.
    Unreviewed members of a bucket that reviewers named are apart, under the words of rules.
    """
    members: dict[tuple[str, str, str], list[str]] = {}
    owners_of: dict[tuple[str, str, str], Counter[str]] = {}
    for attempt, case in failures:
        place = places.get(attempt)
        if place is not None:
            cause = place.slug, place.title, place.id
            members.setdefault(cause, []).append(case)
            owners_of.setdefault(cause, Counter())[owners.get(attempt) or "unknown"] += 1
    return [
        CauseSummary(
            bucket=bucket,
            title=title,
            owner=_owner(owners_of[slug, title, bucket]),
            count=len(cases),
            knock_on=owners_of[slug, title, bucket]["collateral"],
            cases=tuple(dict.fromkeys(cases)),
        )
        for (slug, title, bucket), cases in sorted(members.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    ]


def _owner(owners: Counter[str]) -> str:
    """The most frequent one; that of knock-on failures only where there is no other."""
    return max(owners, key=lambda owner: (owner != "collateral", owners[owner]))
