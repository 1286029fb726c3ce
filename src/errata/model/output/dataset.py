"""What `export --to inspect`, `promptfoo` and `dataset` print."""

import msgspec


class DatasetFileOutput(msgspec.Struct, frozen=True, kw_only=True):
    """A draft of regression cases."""

    format: str
    file: str
    cases: int
    """How many were written; each is marked as a draft."""
    with_expected: int
    """Cases whose expected answer is in the log."""
    infrastructure: int
    """Failures that were skipped because infrastructure failed."""
    without_input: int
    """Failures that were skipped because the log has no input of the case."""
    unsafe: int
    """Failures that were skipped because the harness would load a file or run code from the text of the log."""
    changed: int
    """Cases whose text was changed because it held a secret or a control character."""


SHAPES: dict[str, type] = {"export --to inspect": DatasetFileOutput}
