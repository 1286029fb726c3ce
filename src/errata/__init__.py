"""errata: the post-mortem for LLM eval runs. `errata.api` holds the names that a script uses."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from errata.api import (
        AnalyzedRun,
        AttemptRow,
        CellRow,
        CheckRow,
        DataTable,
        ErrataError,
        FailureRow,
        ImportedRuns,
        MapOutput,
        NotComparableError,
        NotFoundError,
        PairRow,
        RunComparison,
        RunRow,
        RunStore,
        ScoreRow,
        SourceError,
        analyze,
        draft_mapping,
        open,
    )

__all__ = [
    "AnalyzedRun",
    "AttemptRow",
    "CellRow",
    "CheckRow",
    "DataTable",
    "ErrataError",
    "FailureRow",
    "ImportedRuns",
    "MapOutput",
    "NotComparableError",
    "NotFoundError",
    "PairRow",
    "RunComparison",
    "RunRow",
    "RunStore",
    "ScoreRow",
    "SourceError",
    "__version__",
    "analyze",
    "draft_mapping",
    "open",
]


def __getattr__(name: str) -> Any:
    """Names of the API, imported when they are first used: a command must not wait for them."""
    if name in __all__:
        from errata import api  # noqa: PLC0415

        return getattr(api, name)
    raise AttributeError(f"module `errata` has no attribute `{name}`")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
