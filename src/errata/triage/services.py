"""Services that tests call: one that the task provides and that is down, and one that no test can reach."""

import re
from collections.abc import Iterator
from functools import lru_cache

from errata.model import Attempt, Case
from errata.model.words import Confidence
from errata.text.lazy_regex import lazy_regex
from errata.triage.expected import task_text
from errata.triage.observed import Observed, signal
from errata.triage.runner_output import FailedTest, failed_tests

_ADDRESS = lazy_regex(r"https?://(?P<host>[A-Za-z0-9][A-Za-z0-9.-]{0,100})(?P<port>:\d{1,5})?")
_OWN = lazy_regex(r"localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]", re.IGNORECASE)
# what a gateway answers for a server that does not; 500 is the server's own, and a request may have caused it
_GATEWAY = lazy_regex(
    r"^E {1,12}(?:AssertionError: )?assert (?P<code>50[234]) == \d{3}$"
    r"|HTTP Error 50[234]\b|\b50[234] (?:Server Error: )?(?:Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway)",
    re.MULTILINE,
)
_REFUSED = lazy_regex(
    r"host='(?P<host>[\w.-]{1,100})', port=(?P<port>\d{1,5})\): Max retries exceeded"
    r"|Failed to resolve '(?P<name>[\w.-]{1,100})'"
    r"|Failed to connect to (?P<curl>[\w.-]{1,100}) port (?P<curl_port>\d{1,5})"
)
_NO_CONNECTION = lazy_regex(r"ConnectionRefusedError|Connection refused", re.IGNORECASE)


@lru_cache(maxsize=1_000)
def provided_hosts(task: str) -> frozenset[str]:
    """The services that a task has beside it: `http://api:8000`. None where the subject runs a server of its own."""
    if _OWN.search(task):
        return frozenset()
    addresses = _ADDRESS.finditer(task)
    return frozenset(one["host"].lower() for one in addresses if "." not in one["host"] or one["port"])


def service_down(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The tests get no answer from a service that the task provides: no work could have passed them."""
    if case is None or attempt.outcome not in ("fail", "partial") or not (attempt.artefacts or attempt.checks):
        return
    hosts = provided_hosts(task_text(case))
    tests = failed_tests(attempt) if hosts else []
    down = [(where, test, quote) for where, test in tests if (quote := _no_answer(test, hosts))]
    if down:
        where, _, quote = down[0]
        strength: Confidence = "likely" if len(down) == len(tests) else "weak"
        evidence = signal(
            "service_down", strength, where, f"{quote}; the task provides {sorted(hosts)[0]}", attempt.ref
        )
        yield Observed(signal=evidence, owner="environment", also=("task",))


def _no_answer(test: FailedTest, hosts: frozenset[str]) -> str:
    refused = _REFUSED.search(test.text)
    if refused is not None:
        return refused[0] if (refused["host"] or refused["name"] or refused["curl"]).lower() in hosts else ""
    gateway = _GATEWAY.search(test.text)
    return gateway[0].removeprefix("E").strip() if gateway else ""


def unreachable(attempt: Attempt) -> dict[str, tuple[str, str]]:
    """The one address that no failed test could reach → its place and message; empty where a test failed otherwise."""
    if any(check.kind == "tests" and check.status == "pass" for check in attempt.checks):
        return {}
    places: dict[str, tuple[str, str]] = {}
    for where, test in failed_tests(attempt):
        refused = _REFUSED.search(test.text)
        if refused is None and not _NO_CONNECTION.search(test.message):
            return {}
        parts = [part for part in refused.groups() if part] if refused else ["no address"]
        places.setdefault(":".join(parts), (where, test.message))
    return places if len(places) == 1 else {}
