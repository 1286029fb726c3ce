"""A slug that no other bucket of the suite has."""

from collections.abc import Collection


def free_slug(wanted: str, taken: Collection[str]) -> str:
    """With a number behind it where that is needed."""
    numbered = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
    return wanted if wanted not in taken else next(slug for slug in numbered if slug not in taken)
