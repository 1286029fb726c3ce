"""Two columns over the same cases: whether they differ beyond chance, by how much, and what many such tests are worth."""

from itertools import accumulate


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p that the cases only one of two passes fall so unevenly by chance."""
    n, few = only_first + only_second, min(only_first, only_second)
    if n - 2 * few < 2:
        return 1.0
    # B(n, 1/2) is built downwards from its middle by ratios of neighbours: nothing overflows, whatever n is, and the
    # terms are zero after some 20 √n steps
    middle = n // 2
    terms = [1.0]
    for i in range(middle, 0, -1):
        terms.append(terms[-1] * i / (n - i + 1))
        if not terms[-1]:
            break
    lower = sum(terms)
    whole = 2 * lower - terms[0] * (n % 2 == 0)
    return min(1.0, 2 * sum(terms[middle - few :]) / whole)
