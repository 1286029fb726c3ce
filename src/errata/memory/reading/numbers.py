"""Numbers as people write them in sentences: `9`, `nine`."""

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBER = rf"(?:\d{{1,5}}|{'|'.join(_WORDS)})"
"""For a pattern."""


def number_of(text: str) -> int:
    return int(text) if text.isdigit() else _WORDS.index(text.casefold())
