"""The addresses of pages, in one place: everything that is shown can be linked to."""

from urllib.parse import quote, urlencode

from errata.model.identity import split_attempt_id
from errata.text.outgoing import name_without_secrets
from errata.verbs.shown_ids import shown_id


def run_page(run: str, /, **query: str) -> str:
    return _with(f"/runs/{quote(run, safe='')}", query)


def attempt_page(run: str, case: str, attempt: int | str = 1, anchor: str = "", /, **query: str) -> str:
    """`anchor` as in `step-20`, `step-20:3-5` or `check-tests`; `query` is that of the list one came from."""
    path = f"/runs/{quote(run, safe='')}/cases/{_safe_part(case)}/{_safe_part(str(attempt))}"
    target = _with(path, query)
    return f"{target}#{quote(anchor, safe=':-')}" if anchor else target


def attempt_address(attempt_id: str, anchor: str = "", /, **query: str) -> str:
    parts = split_attempt_id(attempt_id)
    number = f"{parts.session}.{parts.index}" if parts.session is not None else str(parts.index)
    return attempt_page(parts.run, parts.case, f"{number}:{parts.path}" if parts.path else number, anchor, **query)


def passes_page(run: str) -> str:
    return f"/runs/{quote(run, safe='')}/passes"


def move_address(run: str) -> str:
    """Takes failures of the run that belong into another bucket."""
    return f"/runs/{quote(run, safe='')}/move"


def rows_address(run: str, /, **query: str) -> str:
    """The rows of a list alone, for a page that goes on by itself."""
    return _with(f"/runs/{quote(run, safe='')}/rows", query)


def case_page(suite: str, case: str) -> str:
    return f"/cases/{_safe_part(suite)}/{_safe_part(case)}"


def bucket_page(bucket: str) -> str:
    return f"/buckets/{quote(bucket, safe='')}"


def review_page(attempt: str = "", **query: str) -> str:
    return _with(f"/review/{quote(shown_id(attempt), safe='')}" if attempt else "/review", query)


def compare_page(*runs: str, **query: str) -> str:
    return _with("/compare", {"runs": ",".join(runs), **query})


def leaderboard_page(**query: str) -> str:
    return _with("/leaderboard", query)


def login_page(wanted: str = "/") -> str:
    """`wanted`: where somebody goes who has logged in."""
    return _with("/login", {"next": wanted if wanted != "/" else ""})


def _safe_part(name: str) -> str:
    """Without secrets: addresses are kept by browsers and in the logs of servers."""
    return quote(name_without_secrets(name), safe="")


def _with(path: str, query: dict[str, str]) -> str:
    given = {name: name_without_secrets(value) for name, value in query.items() if value}
    return f"{path}?{urlencode(given)}" if given else path
