"""Too many failures to read them all: some of every group, and what was left out is said."""

from collections.abc import Iterable

import msgspec

from errata.model import FailureKey


class Waiting(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A failure that nobody has read yet, and the group it is taken for."""

    attempt: str
    case: str
    key: FailureKey
    owner: str = ""


class Sample(msgspec.Struct, frozen=True):
    taken: tuple[Waiting, ...]
    left_out: dict[str, int]
    """Coarse key → how many of it are not read."""


def sample(waiting: Iterable[Waiting], limit: int | None) -> Sample:
    """One of each group, then a second of each, and so on, so that no group is read whole while another is not begun.

    Within a group those of different exact keys come first: they are the likeliest to differ. Nothing is left to
    chance, so that a second call takes up where the first one stopped.
    """
    every = list(waiting)
    if limit is None or len(every) <= limit:
        return Sample(tuple(every), {})
    groups: dict[str, list[Waiting]] = {}
    for one in every:
        groups.setdefault(one.key.coarse, []).append(one)
    ranked = sorted(
        ((rank, -len(members), coarse), one)
        for coarse, members in groups.items()
        for rank, one in enumerate(_varied(members))
    )
    taken = [one for _, one in ranked[:limit]]
    left_out: dict[str, int] = {}
    for _, one in ranked[limit:]:
        left_out[one.key.coarse] = left_out.get(one.key.coarse, 0) + 1
    chosen = {one.attempt for one in taken}
    return Sample(tuple(one for one in every if one.attempt in chosen), left_out)


def _varied(members: list[Waiting]) -> list[Waiting]:
    """Those with a new exact key first, in their order; then the second of each key, and so on."""
    seen: dict[str, int] = {}
    ranked = []
    for at, one in enumerate(members):
        rank = seen.get(one.key.exact, 0)
        seen[one.key.exact] = rank + 1
        ranked.append((rank, at, one))
    return [one for _, _, one in sorted(ranked, key=lambda entry: entry[:2])]
