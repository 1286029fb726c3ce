"""The addresses of pages, in one place: everything that is shown can be linked to."""

from urllib.parse import quote, urlencode


def run_page(run: str, **query: str) -> str:
    return _with(f"/runs/{quote(run, safe='')}", query)


def attempt_page(run: str, case: str, attempt: int | str = 1, anchor: str = "") -> str:
    """`anchor` as in `step-20`, `step-20:3-5` or `check-tests`."""
    target = f"/runs/{quote(run, safe='')}/cases/{quote(case, safe='')}/{quote(str(attempt), safe='')}"
    return f"{target}#{quote(anchor, safe=':-')}" if anchor else target


def case_page(suite: str, case: str) -> str:
    return f"/cases/{quote(suite, safe='')}/{quote(case, safe='')}"


def bucket_page(bucket: str) -> str:
    return f"/buckets/{quote(bucket, safe='')}"


def review_page(attempt: str = "", **query: str) -> str:
    return _with(f"/review/{quote(attempt, safe='')}" if attempt else "/review", query)


def compare_page(*runs: str, **query: str) -> str:
    return _with("/compare", {"runs": ",".join(runs), **query})


def leaderboard_page(**query: str) -> str:
    return _with("/leaderboard", query)


def login_page(wanted: str = "/") -> str:
    """`wanted`: where somebody goes who has logged in."""
    return _with("/login", {"next": wanted if wanted != "/" else ""})


def _with(path: str, query: dict[str, str]) -> str:
    given = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(given)}" if given else path
