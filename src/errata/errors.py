"""Every error errata raises on purpose.

ErrataError                 the user can fix it: shown as message + hint, exit 2
├── SourceError             the logs could not be opened as asked
│   ├── UnknownFormatError
│   ├── ReadAloneError      several readers can't share a log; one reads it then, and nobody sees this
│   └── AmbiguousFormatError
├── FetchError              a deployment could not be asked, or did not answer as it should
├── StoreError              the store is newer, locked, or not ours
├── NotFoundError           no run, case or attempt of that name, or several
├── NotComparableError      runs that did not measure the same thing: exit 4
├── ReportError             a report can't be edited as asked
└── SettingsError           a setting is missing or contradicts another

Anything else that escapes is a bug in errata: exit 3 and a crash file.
A bad line inside a log is neither; it is an `Unreadable` record, and reading goes on.
"""


class ErrataError(Exception):
    """What is wrong, and in `hint` what would be right."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SourceError(ErrataError):
    """The logs could not be opened as asked."""


class UnknownFormatError(SourceError):
    """No source recognises the path."""


class ReadAloneError(SourceError):
    """Several readers can't share the log after all; what they read of it is worth nothing, and one has to read it."""


class AmbiguousFormatError(SourceError):
    """Several sources recognise the path."""


class FetchError(ErrataError):
    """A deployment could not be asked, or did not answer as it should."""


class StoreError(ErrataError):
    """The store is newer, locked, full, or not ours."""


class NotFoundError(ErrataError):
    """No run, case or attempt of that name, or several."""


class ReportError(ErrataError):
    """A report can't be edited as asked."""


class NotComparableError(ErrataError):
    """Runs that did not measure the same thing in the same way."""


class SettingsError(ErrataError):
    """A setting is missing or contradicts another."""
