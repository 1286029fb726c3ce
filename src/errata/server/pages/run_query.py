"""What is chosen on the page of a run, as its address has it: filters, grouping, order and the place in the list."""

import base64
import binascii
from typing import Any

import msgspec

from errata.errors import SettingsError
from errata.model.filters import FailureFilters
from errata.model.listing import REVIEW_STATES, Grouping, Order
from errata.model.words import OWNERS
from errata.render.palette import OWNERS as LOOKS
from errata.render.palette import letter_of
from errata.server.pages.addresses import run_page
from errata.verbs.pages import parse_query

_LETTERS = {look.letter: owner for owner, look in LOOKS.items()}
REVIEWS = {
    "disputed": "reviewers disagree",
    "open": "not reviewed",
    "inherited": "same as a reviewed one",
    "reviewed": "reviewed once",
    "final": "reviewed",
}
GROUPINGS: dict[Grouping, str] = {
    "bucket": "cause",
    "owner": "owner",
    "check": "check",
    "category": "category",
    "none": "nothing",
}
ORDERS: dict[Order, str] = {"log": "log", "case": "case", "-tokens": "tokens", "-duration": "time"}


class RunQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The failures of a run, chosen."""

    owner: str = ""
    """Letters, or the name of one owner."""
    check: str = ""
    """The first check that failed; `-` for failures without one."""
    signal: str = ""
    review: str = ""
    category: str = ""
    bucket: str = ""
    key: str = ""
    past: str = ""
    """new, repeated or flaky."""
    q: str = ""
    """Words, and `owner:`, `case:`, `signal:`, `is:` before a word."""
    group: Grouping | None = None
    sort: Order = "log"
    cursor: str = ""
    """Where the list goes on, from the link to the next page."""
    first: int = 0
    """How many cases with a number to leave out."""
    at: str = ""
    """The attempt that the row cursor is on."""

    @property
    def filters(self) -> FailureFilters:
        words = parse_query(self.q)
        owners = self.owners or ((words.owner,) if words.owner in OWNERS else ())
        state = {"disagreed": "disputed"}.get(words.state, words.state)
        return FailureFilters(
            owners=owners,
            check=self.check,
            signal=self.signal or words.signal,
            review=self.review or (state if state in REVIEW_STATES else ""),
            category=self.category,
            bucket=self.bucket,
            key=self.key,
            past=self.past,
            text=" ".join(filter(None, (words.case, words.text))),
        )

    @property
    def owners(self) -> tuple[str, ...]:
        if self.owner in OWNERS:
            return (self.owner,)
        unknown = [letter for letter in self.owner if letter.upper() not in _LETTERS]
        if unknown:
            raise SettingsError(f"`{self.owner}` is not an owner", hint=f"owners are: {', '.join(OWNERS)}")
        return tuple(dict.fromkeys(_LETTERS[letter.upper()] for letter in self.owner))

    @property
    def chosen(self) -> dict[str, str]:
        """The filters in use."""
        named = ("owner", "check", "signal", "review", "category", "bucket", "key", "past", "q")
        return {name: value for name in named if (value := getattr(self, name))}

    def address(self, run: str, **changes: str) -> str:
        """With other values; a change starts at the first page."""
        values = {**self.chosen, "group": self.group or "", "sort": "" if self.sort == "log" else self.sort, **changes}
        return run_page(run, **values)

    def toggled(self, run: str, name: str, value: str) -> str:
        """With this filter, or without it where it is in use."""
        if name == "owner":
            own = [letter_of(owner) for owner in self.owners]
            letter = letter_of(value)
            kept = [one for one in own if one != letter] if letter in own else [*own, letter]
            return self.address(run, owner="".join(kept))
        return self.address(run, **{name: "" if getattr(self, name) == value else value})


def written_cursor(place: Any) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode("ascii").rstrip("=")


def read_cursor(cursor: str) -> tuple[Any, Any] | None:
    if not cursor:
        return None
    try:
        data = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        return msgspec.json.decode(data, type=tuple[str | float | int, str | int])
    except (msgspec.MsgspecError, binascii.Error, ValueError):
        raise SettingsError("The cursor is not one of this list", hint="start at the first page") from None
