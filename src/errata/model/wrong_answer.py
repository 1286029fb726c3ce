"""An answer that is not the expected one, as the harness took both, and the kind of difference."""

from typing import Literal, NamedTuple

Difference = Literal[
    "empty", "not_extracted", "refusal", "option", "case", "format", "factor", "sign", "unit", "rounding", "number",
    "extra", "part", "text",
]  # fmt: skip


class WrongAnswer(NamedTuple):
    answered: str
    """In one line. Empty where there was no answer, or where the harness found none in a text."""
    expected: str
    difference: Difference
    factor: str = ""
    """How many times too large or too small a number is, where that is a power of ten."""

    @property
    def pair(self) -> str:
        """Equal for failures that gave the same answer in place of the same expected one."""
        return f"{self.answered} ≠ {self.expected}" if self.answered else ""
