"""One attempt whose text is large and made of one sign: `soak/one_large_text.py` in short."""

import pytest
from soak.one_large_text import FORMATS, MOST, SIGNS, times

SIZE = 200_000


@pytest.mark.req("X-07")
@pytest.mark.parametrize("name", ["errata-jsonl", "deepeval"])
def test_no_text_of_one_sign_holds_a_command_up(name):
    """A fifth of the text may take as long as all of it: a machine with other work is slow."""
    longest = {
        (carrier, sign): max(times(name, carrier, unit * (SIZE // len(unit))).values())
        for carrier, (sign, unit) in zip(FORMATS[name][1], SIGNS.items(), strict=False)
    }

    assert {where: seconds for where, seconds in longest.items() if seconds > MOST} == {}
