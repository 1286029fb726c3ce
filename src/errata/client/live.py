"""Report a run to a server of errata while it goes on.

    with LiveRun(suite="tides", model="acme/nimbus-2", key="ci-4711") as run:
        run.attempt("neap", outcome="fail", output={"text": "noon"})

Address and token come from environment variables that are named after the deployment: `ERRATA_DEV_URL` and
`ERRATA_DEV_TOKEN`. Production is written only with `deployment="prod", prod=True`.
"""

import json
import os
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from http.client import HTTPException
from types import TracebackType
from typing import Any, Self
from urllib.error import HTTPError, URLError
from urllib.request import Request, build_opener

import msgspec

from errata.client.webhook import MAY_PASS, RefusedRedirects
from errata.errors import ConflictError, FetchError, SettingsError
from errata.model.store_address import HEADER, PRODUCTION
from errata.settings.reviewers import refuse_address

TIMEOUT = 10.0
TRIES = 5
PAUSE, LONGEST_PAUSE = 0.5, 30.0
Fact = Mapping[str, Any] | msgspec.Struct


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """Where reports go, and with which token."""

    url: str
    token: str
    deployment: str = ""


def server_of(deployment: str, *, prod: bool = False, environ: Mapping[str, str] = os.environ) -> Server:
    """From the variables that are named after the deployment."""
    if deployment in PRODUCTION and not prod:
        hint = "pass `prod=True` if this run belongs there, or report to another deployment"
        raise SettingsError(f"Reports to `{deployment}` need an explicit flag", hint=hint)
    if prod and deployment not in PRODUCTION:
        raise SettingsError(f"`{deployment}` is not a production deployment", hint='use `deployment="prod"`')
    stem = "".join(letter if letter.isalnum() else "_" for letter in deployment).upper()
    names = (f"ERRATA_{stem}_URL", f"ERRATA_{stem}_TOKEN")
    if missing := [name for name in names if not environ.get(name)]:
        named = " and ".join(f"`{name}`" for name in missing)
        hint = "set it to the address of `errata serve`, and the token to one with the scope `report`"
        raise SettingsError(f"The environment has no {named}", hint=hint)
    url = environ[names[0]].rstrip("/")
    refuse_address(url, f"`{names[0]}`", key_name=names[1])
    return Server(url=url, token=environ[names[1]], deployment=deployment)


class LiveRun:
    """A run that is going on. A report that can't be sent now is sent with the next one, in order."""

    def __init__(
        self,
        *,
        deployment: str = "dev",
        prod: bool = False,
        server: Server | None = None,
        wait: Callable[[float], None] = time.sleep,
        **start: Any,
    ) -> None:
        """`start`: the fields of the run, such as `suite`, `model`, `key`, `name`, `variant` and `expected_cases`."""
        self._server = server or server_of(deployment, prod=prod)
        self._start = {"key": uuid.uuid4().hex, **start}
        self._wait = wait
        self._opener = build_opener(RefusedRedirects)
        self._waiting: deque[tuple[str, dict[str, Any]]] = deque()
        self._not_before, self._pause = 0.0, PAUSE
        self.id = ""

    def __enter__(self) -> Self:
        self.id = str(self._post("runs", self._start, tries=TRIES)["run"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish("finished" if error is None else "cancelled" if kind is KeyboardInterrupt else "failed")

    def attempt(self, case: str, **facts: Any) -> None:
        """One try at a case. Called again for the same `case` and `index`, it replaces what was reported."""
        self._send("attempts", {"attempts": [{"key": _key(), "case": case, **_plain(facts)}]})

    def steps(self, case: str, steps: Iterable[Fact], *, index: int = 1) -> None:
        """Steps that follow those reported before."""
        self._send("steps", {"key": _key(), "case": case, "index": index, "steps": _plain(list(steps))})

    def check(self, case: str, name: str, status: str, *, index: int = 1, **facts: Any) -> None:
        check = {"name": name, "status": status, **_plain(facts)}
        self._send("checks", {"key": _key(), "case": case, "index": index, "checks": [check]})

    def artefact(self, case: str, path: str, text: str, *, role: str = "output", index: int = 1) -> None:
        file = {"role": role, "path": path, "text": text, "size": len(text.encode("utf-8", "replace"))}
        self._send("artefacts", {"key": _key(), "case": case, "index": index, "artefacts": [file]})

    def finish(self, status: str = "finished", **facts: Any) -> None:
        """Sends what is waiting; an error where the server does not take all of it."""
        self._waiting.append(("finish", {"run": self.id, "status": status, **_plain(facts)}))
        self._flush(tries=TRIES)

    def _send(self, what: str, body: dict[str, Any]) -> None:
        self._waiting.append((what, {"run": self.id, **body}))
        if time.monotonic() < self._not_before:
            return
        try:
            self._flush(tries=1)
        except FetchError:  # the evaluation goes on; `finish` reports what never arrived
            self._not_before = time.monotonic() + self._pause
            self._pause = min(LONGEST_PAUSE, self._pause * 2)
        else:
            self._pause = PAUSE

    def _flush(self, *, tries: int) -> None:
        while self._waiting:
            what, body = self._waiting[0]
            try:
                self._post(what, body, tries=tries)
            except FetchError as error:
                hint = f"{len(self._waiting)} reports were not delivered; {error.hint}"
                raise FetchError(error.message, hint=hint) from error
            except (ConflictError, SettingsError):  # it would be refused again
                self._waiting.popleft()
                raise
            self._waiting.popleft()

    def _post(self, what: str, body: dict[str, Any], *, tries: int) -> dict[str, Any]:
        """The answer; a report that the server refuses for good is an error of the caller."""
        problem = ""
        for number in range(tries):
            if number:
                self._wait(PAUSE * 2 ** (number - 1))
            try:
                with self._opener.open(self._request(what, body), timeout=TIMEOUT) as answer:
                    return dict(json.load(answer))
            except HTTPError as error:
                with error:
                    problem = _words(error)
                if error.code == 409:
                    raise ConflictError(problem) from None
                if error.code not in MAY_PASS:
                    raise SettingsError(problem) from None
            except (URLError, HTTPException, TimeoutError, OSError) as error:
                reason = error.reason if isinstance(error, URLError) else error
                problem = f"The server at `{self._server.url}` can't be reached: {reason}"
        raise FetchError(problem, hint="check whether `errata serve` runs there")

    def _request(self, what: str, body: dict[str, Any]) -> Request:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._server.token}"}
        if self._server.deployment:
            headers[HEADER] = self._server.deployment
        data = msgspec.json.encode(body)
        return Request(f"{self._server.url}/api/live/{what}", data=data, headers=headers)  # noqa: S310 its scheme was checked


def _words(error: HTTPError) -> str:
    try:
        answer = json.loads(error.read(100_000))
        return f"{answer['error']}{': ' + answer['hint'] if answer.get('hint') else ''}"
    except (ValueError, KeyError, TypeError, OSError):
        return f"The server answered {error.code}"


def _key() -> str:
    return uuid.uuid4().hex


def _plain(facts: Any) -> Any:
    """Records become what JSON can hold."""
    return msgspec.to_builtins(facts, str_keys=True)
