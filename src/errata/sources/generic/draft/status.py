"""Guess the status column of a table, and which execution each of its words means."""

from collections import Counter

from errata.sources.generic.draft.names import last_name, plain_name, rank, status_word
from errata.sources.generic.draft.pool import ColumnPool
from errata.sources.generic.draft.profiles import ColumnProfile, is_nothing
from errata.sources.generic.values import is_plain_word, yes_or_no
from errata.text.lazy_regex import lazy_regex

MOSTLY = 0.9
_REMARKS = lazy_regex(r"remarks?|comments?|notes?|messages?|msg|details?|bemerkung(?:en)?|kommentar|hinweis|meldung")


def guess_status(pool: ColumnPool) -> None:
    status = pool.candidates("status", _is_status)
    if status:
        best = status[0]
        words = [word for word in best.words if not is_plain_word(word) or status_word(word)]
        pool.put("attempt", "status", best)
        put_status_words(pool, words, "status", best)
        if not pool.draft.has("attempt", "error"):
            _put_remarks(pool, best)


def _put_remarks(pool: ColumnPool, status: ColumnProfile) -> None:
    """A column of remarks that holds the message wherever the status is an error."""
    crashed = [at for at, word in enumerate(status.values) if isinstance(word, str) and status_word(word) == "error"]
    for profile in pool.free() if crashed else ():
        filled = sum(not is_nothing(profile.values[at]) for at in crashed)
        if _REMARKS.fullmatch(last_name(profile.path)) and profile.is_text and filled >= MOSTLY * len(crashed):
            pool.put("attempt", "error", profile, when="status")
            return


def _is_status(profile: ColumnProfile) -> bool:
    """A column called `exit` or `ended` must have a word that is a status."""
    if not profile.words or profile.numbers:
        return False
    return rank("status", profile.path) == 0 or any(status_word(word) for word in profile.words)


def put_status_words(pool: ColumnPool, words: list[str], key: str, status: ColumnProfile | None = None) -> None:
    """Which execution each word means, by its name, or because the same rows have an error."""
    groups: dict[str, list[str]] = {}
    unknown = []
    for word in words:
        meaning = status_word(word)
        if not meaning and yes_or_no(word) is None:
            unknown.append(word)
        elif meaning and meaning != plain_name(word):
            groups.setdefault(meaning, []).append(word)
    for word in _failures_that_crashed(pool, status) if status is not None else ():
        groups.setdefault("error", []).append(word)
    for meaning, listed in groups.items():
        if meaning != "completed" or not all(is_plain_word(word) for word in listed):
            pool.draft.put("status_words", meaning, listed)
    if unknown:
        shown = ", ".join(f"`{word}`" for word in unknown[:6])
        why = f"errata does not know {shown}; assign {'it' if len(unknown) == 1 else 'them'} in [status_words]"
        pool.draft.doubt("attempt", key, why)


def _failures_that_crashed(pool: ColumnPool, status: ColumnProfile) -> list[str]:
    """Words such as `failed` that occur only in rows with an error."""
    path = pool.draft.keys.get(("attempt", "error"))
    error = pool.profiles.get(path) if isinstance(path, str) else None
    if error is None:
        return []
    rows: Counter[str] = Counter()
    with_error: Counter[str] = Counter()
    for word, message in zip(status.values, error.values, strict=True):
        if isinstance(word, str) and yes_or_no(word) is False:
            rows[word.strip()] += 1
            with_error[word.strip()] += not is_nothing(message)
    return [word for word, often in rows.items() if with_error[word] >= MOSTLY * often]
