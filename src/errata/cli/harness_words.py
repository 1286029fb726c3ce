"""How the people of a harness call it, and what it counts."""

from errata.model import Run


def harness_title(run: Run) -> str:
    from errata.sources import harness_of

    return harness_of(run.source.name).title


def counted_in(run: Run, unit: str) -> str:
    """`trial`, `eval`, `turn`; else `case` or `attempt`."""
    from errata.sources import harness_of

    return harness_of(run.source.name).unit or unit.removesuffix("s")
