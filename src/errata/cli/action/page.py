"""What the pages about actions and known gaps share: a label, and what is told, hanging behind it."""

from errata.cli.output import put

SHORT = 8
"""So much of an id is shown, and is enough to name it."""
HANG = 9


def put_field(label: str, told: str) -> None:
    put(f"{label:<{HANG - 1}} {told}", hang=HANG)
