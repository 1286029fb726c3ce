"""Figures in text: rates, p-values, money, seconds, and counts with their noun. An unknown figure is a dash."""

from collections.abc import Mapping
from math import copysign, floor

from errata.model.counts import CategoryOverlap
from errata.model.output.score import CostOutput
from errata.model.words import Phase

NONE = "–"
PHASE_WORDS: dict[Phase, str] = {
    "": "",
    "setup": "during setup",
    "subject": "while calling the model",
    "tool": "in a tool",
    "environment": "in the environment",
    "simulator": "in the simulated user",
    "scoring": "while scoring",
    "aggregation": "in the harness",
}
"""When an error occurred; nothing where the log does not tell."""


def half_up(value: float, digits: int = 1) -> float:
    """Rounded as people do: half of the last digit goes away from zero, so 81.25 is 81.3."""
    scale = 10**digits
    return copysign(floor(abs(value) * scale + 0.5 + 1e-9) / scale, value)


def percent(rate: float | None, digits: int = 1) -> str:
    """`81.3 %`; the only home of how a share is rounded and spelled."""
    return NONE if rate is None else f"{hundredths(rate, digits)} %"


def hundredths(rate: float, digits: int = 1) -> str:
    """The number of a percentage without its sign, for intervals and columns."""
    return f"{half_up(100 * rate, digits):.{digits}f}"


def mean_words(mean: float, digits: int = 4) -> str:
    """Of results on any scale: `0.6622`, `72.31`."""
    return f"{mean:,.0f}" if abs(mean) >= 10_000 else f"{mean:.{digits}g}"


def decimal(value: float | None) -> str:
    """The same in columns: `0.734`, `73.40`, `1,234.0`."""
    if value is None:
        return NONE
    digits = 3 if abs(value) < 10 else 2 if abs(value) < 100 else 1
    return f"{half_up(value, digits) + 0.0:,.{digits}f}"


def share_passed(share: float) -> str:
    """Of a check that failed: `67 % passed`, `none passed`."""
    return f"{percent(share, 0)} passed" if share else "none passed"


def p_value(p: float, digits: int = 2) -> str:
    """`p = 0.63`, `p < 0.001`; half of the last digit rounds up, as people do."""
    if p < 0.001:
        return "p < 0.001"
    scale = 10 ** (digits if p >= 0.01 else 3)
    return f"p = {floor(scale * p + 0.5) / scale:.{digits if p >= 0.01 else 3}f}"


def points(difference: float, interval: tuple[float, float] | None = None, *, of_rates: bool = True) -> str:
    """A difference of rates: `-12.3 points [-20.1, -4.0]`; of means: `-0.123 [-0.201, -0.040]`."""
    signed = _signed if of_rates else _signed_decimal
    between = f" [{signed(interval[0])}, {signed(interval[1])}]" if interval is not None else ""
    return f"{signed(difference)}{' points' if of_rates else ''}{between}"


def _signed(difference: float) -> str:
    return f"{half_up(100 * difference) + 0.0:+.1f}"


def _signed_decimal(difference: float) -> str:
    shown = decimal(difference)
    return shown if shown.startswith("-") else f"+{shown}"


CURRENCY_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}


def money(value: float | None, digits: int = 4, currency: str = "USD") -> str:
    if value is None:
        return NONE
    # sums of the same amounts in another order must not round differently
    value = round(value, 9)
    sign = CURRENCY_SIGNS.get(currency)
    return f"{sign}{value:,.{digits}f}" if sign else f"{value:,.{digits}f} {currency}"


def amount(value: float | None, currency: str = "USD") -> str:
    """In cents; below a tenth these are too coarse."""
    return money(value, 2 if value is None or value >= 0.1 else 4, currency)


def simulator_cost(total: float, unknown: int, currency: str = "USD") -> str:
    """Where the log states what the simulated user cost, and not what the agent cost."""
    rest = f" ({plural(unknown, 'attempt')} without a figure)" if unknown else ""
    return f"agent unknown · simulated user {money(total, 2 if total >= 1 else 4, currency)}{rest}"


def cost_parts(cost: CostOutput, currency: str = "USD") -> str:
    """` (agent $0.78 · simulated user $0.23)`; empty where the log names only what the agent cost."""
    return parts_of_cost(cost.of_subject, cost.of_simulator, cost.of_judge, currency)


def parts_of_cost(subject: float | None, simulator: float | None, judge: float | None, currency: str = "USD") -> str:
    others = {who: part for who, part in (("simulated user", simulator), ("judge", judge)) if part}
    if not others:
        return ""
    agent = "unknown" if subject is None else amount(subject, currency)
    return f" ({' · '.join([f'agent {agent}', *(f'{who} {amount(part, currency)}' for who, part in others.items())])})"


def seconds(value: float | None) -> str:
    return NONE if value is None else f"{value:.1f}"


def plural(count: int, word: str, words: str = "") -> str:
    """`1 case`, `2 cases`; `words` is the plural where it takes more than an s."""
    return f"{count:,} {word if count == 1 else words or word + 's'}"


def overlap_note(overlap: CategoryOverlap) -> str:
    """Why failures by category do not add up to the failures; empty where they do."""
    several, none = overlap.several, overlap.none
    parts = [
        f"{plural(several, 'failure')} {'is' if several == 1 else 'are'} in several categories, counted in each"
        if several
        else "",
        f"{plural(none, 'failure')} without a category" if none else "",
    ]
    return "; ".join(filter(None, parts))


def left_out_reason(why: str) -> str:
    """Why a score leaves a case out: the owner, or a word for what is missing."""
    return _LEFT_OUT.get(why, why)


_LEFT_OUT = {"not measured": "unscored", "not in the log": "no row in the log"}


def left_out_reasons(counts: Mapping[str, int]) -> str:
    """`provider 1, environment 1`."""
    return ", ".join(f"{left_out_reason(why)} {count:,}" for why, count in counts.items())
