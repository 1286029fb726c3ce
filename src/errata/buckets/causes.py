"""The causes of one run for its summary: its buckets, the largest first."""

from collections.abc import Iterable, Mapping, Sequence

from errata.model import BucketPlace, CauseSummary, Run
from errata.model.identity import split_attempt_id
from errata.model.run import case_name


def summarise_causes(
    run: Run, places: Mapping[str, BucketPlace], texts: Iterable[tuple[str, Sequence[str]]]
) -> list[CauseSummary]:
    """`texts` are the failed attempts in the order of the log, each with the error texts of its log.

    At equal counts the cause that the log shows first comes first. Attempts in no bucket are left out.
    """
    members: dict[str, dict[str, Sequence[str]]] = {}
    titles: dict[str, str] = {}
    for attempt, its_texts in texts:
        place = places.get(attempt)
        if place is not None:
            members.setdefault(place.id, {})[attempt] = its_texts
            titles[place.id] = place.title
    return [
        CauseSummary(
            bucket=bucket,
            title=titles[bucket],
            count=len(found),
            cases=tuple(dict.fromkeys(case_name(run, split_attempt_id(attempt).case) for attempt in found)),
            verbatim=all(any(titles[bucket] in text for text in its_texts) for its_texts in found.values()),
        )
        for bucket, found in sorted(members.items(), key=lambda pair: -len(pair[1]))
    ]
