"""Every error errata raises on purpose.

ErrataError                 the user can fix it: shown as message + hint, exit 2
├── SourceError             the logs could not be opened as asked
│   ├── UnknownFormatError
│   └── AmbiguousFormatError
├── FetchError              a deployment could not be asked, or did not answer as it should
├── ClusterError            the cluster could not be reached, or lost its workers again and again
├── StoreError              the store is newer, locked, read-only, or not ours
│   ├── ReadOnlyStoreError  commands that only read go on without what they could not keep
│   └── DamagedStoreError   a part of the file is lost; the message leads to what can be rebuilt
├── NotFoundError           no run, case or attempt of that name, or several
├── NotReadyError           a server still derives what the request needs; it can be asked again
├── ConflictError           somebody changed it meanwhile, or the same key came with another content
├── NotComparableError      runs that did not measure the same thing: exit 4
├── ReportError             a report can't be edited as asked
└── SettingsError           a setting is missing or contradicts another

Anything else that escapes is a bug in errata: exit 3 and a crash file.
A bad line inside a log is neither; it is an `Unreadable` record, and reading goes on.
"""

import re
from collections.abc import Iterable
from itertools import islice


class ErrataError(Exception):
    """What is wrong, and in `hint` what would be right."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        # a name with line breaks does not make lines of its own
        self.message = " ".join(message.splitlines())
        super().__init__(self.message)
        self.hint = hint


class SourceError(ErrataError):
    """The logs could not be opened as asked."""


class UnknownFormatError(SourceError):
    """No source recognises the path."""


class AmbiguousFormatError(SourceError):
    """Several sources recognise the path."""


class FetchError(ErrataError):
    """A deployment could not be asked, or did not answer as it should."""


class ClusterError(ErrataError):
    """The cluster could not be reached, or lost its workers again and again."""


class StoreError(ErrataError):
    """The store is newer, locked, read-only, full, or not ours."""


class ReadOnlyStoreError(StoreError):
    """The store can only be read."""


class DamagedStoreError(StoreError):
    """A part of the file is lost."""


class NotFoundError(ErrataError):
    """No run, case or attempt of that name, or several."""


class NotReadyError(ErrataError):
    """A server derives this in the background, and a request does not wait for it."""

    def __init__(self, message: str, *, hint: str = "", run: str = "") -> None:
        """`run`: the id of the run that is being worked on."""
        super().__init__(message, hint=hint)
        self.run = run


class ReportError(ErrataError):
    """A report can't be edited as asked."""


class ConflictError(ErrataError):
    """Somebody changed it meanwhile, or the same key came with another content."""


class NotComparableError(ErrataError):
    """Runs that did not measure the same thing in the same way."""


class SettingsError(ErrataError):
    """A setting is missing or contradicts another."""


MOST_NAMES = 5_000
"""Names that `nearest` compares with, at most."""
SHOWN = 3
FEWEST_LETTERS = 3
"""A shorter word is only looked for at the beginning and at the end of a name."""


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """The known names closest to a mistyped word: first those that contain it, then those with a similar spelling.

    Case, hyphens and slashes are ignored. The word itself is never suggested.
    """
    from difflib import get_close_matches  # noqa: PLC0415 only a wrong name needs it

    wanted = _bare(word)
    names = {name: _bare(name) for name in islice(known, MOST_NAMES) if name and name != word}
    if not wanted:
        return []
    inside = sorted((name for name, bare in names.items() if _holds(bare, wanted)), key=lambda name: (len(name), name))
    by_bare = {bare: name for name, bare in names.items()}
    alike = [by_bare[bare] for bare in get_close_matches(wanted, by_bare, n=SHOWN, cutoff=0.7)]
    return list(dict.fromkeys([*inside, *alike]))[:SHOWN]


def extra_hint(extra: str) -> str:
    """How to install an optional part of errata, which is installed from a clone of its repository."""
    return f"install the extra `errata[{extra}]`: `pip install '.[{extra}]'` in a clone of the errata repository"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint such as "did you mean `x`?"; empty if no name is similar."""
    names = [f"`{' '.join(name.splitlines())}`" for name in nearest(word, known)]
    if len(names) > 1:
        return f"did you mean {', '.join(names[:-1])} or {names[-1]}?"
    return f"did you mean {names[0]}?" if names else ""


def _holds(bare: str, wanted: str) -> bool:
    """A letter or two in the middle of a word, as `to` in `store`, hold nothing in common."""
    return wanted in bare if len(wanted) >= FEWEST_LETTERS else bare.startswith(wanted) or bare.endswith(wanted)


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())
