"""The causes of one run for its summary: its buckets, the largest first."""

from collections.abc import Iterable, Mapping

from errata.model import BucketPlace, CauseSummary


def summarise_causes(places: Mapping[str, BucketPlace], failures: Iterable[tuple[str, str]]) -> list[CauseSummary]:
    """`failures` are the failed attempts in the order of the log, each with the name of its case.

    Of causes with equal counts, the one that the log shows first comes first. Attempts in no bucket are left out.
    """
    members: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    for attempt, case in failures:
        place = places.get(attempt)
        if place is not None:
            members.setdefault(place.id, []).append(case)
            titles[place.id] = place.title
    return [
        CauseSummary(bucket=bucket, title=titles[bucket], count=len(cases), cases=tuple(dict.fromkeys(cases)))
        for bucket, cases in sorted(members.items(), key=lambda pair: -len(pair[1]))
    ]
