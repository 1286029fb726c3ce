"""Figures in text: rates, p-values, money, seconds, and counts with their noun. An unknown figure is a dash."""

from math import floor

NONE = "–"


def percent(rate: float | None) -> str:
    return NONE if rate is None else f"{100 * rate:.1f} %"


def p_value(p: float, digits: int = 2) -> str:
    """`p = 0.63`, `p < 0.001`; half of the last digit rounds up, as people do."""
    if p < 0.001:
        return "p < 0.001"
    scale = 10 ** (digits if p >= 0.01 else 3)
    return f"p = {floor(scale * p + 0.5) / scale:.{digits if p >= 0.01 else 3}f}"


def points(difference: float, interval: tuple[float, float] | None = None) -> str:
    """A difference of rates: `-12.3 points [-20.1, -4.0]`."""
    between = f" [{100 * interval[0]:+.1f}, {100 * interval[1]:+.1f}]" if interval is not None else ""
    return f"{100 * difference:+.1f} points{between}"


CURRENCY_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}


def money(value: float | None, digits: int = 4, currency: str = "USD") -> str:
    if value is None:
        return NONE
    sign = CURRENCY_SIGNS.get(currency)
    return f"{sign}{value:,.{digits}f}" if sign else f"{value:,.{digits}f} {currency}"


def seconds(value: float | None) -> str:
    return NONE if value is None else f"{value:.1f}"


def plural(count: int, word: str, words: str = "") -> str:
    """`1 case`, `2 cases`; `words` is the plural where it takes more than an s."""
    return f"{count:,} {word if count == 1 else words or word + 's'}"
