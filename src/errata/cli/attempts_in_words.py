"""How many attempts there are, told the same way everywhere: what is in the log, and apart from it what is not."""

from errata.cli.output import plural
from errata.model import StoredRun
from errata.runs.without_failures import untold_of


def attempts_in_words(stored: StoredRun) -> str:
    """`29 attempts, 2 missing`."""
    return ", ".join([plural(stored.counts.attempts_in_log, "attempt"), *beside(stored)])


def beside(stored: StoredRun) -> list[str]:
    """What was planned but never made, and what was made but left no row."""
    missing, untold = stored.counts.missing, untold_of(stored)
    told = [f"{missing:,} missing"] if missing else []
    return [*told, f"{untold:,} measured but not in the log"] if untold else told
