"""Runs that are reported while they go on."""

import json
import time

import msgspec
import pytest

from errata.client.live import LiveRun, Server
from errata.errors import ConflictError, SettingsError
from errata.model.live import AttemptReport, AttemptsReport, StartReport
from errata.runs.view import RunView
from errata.server.exchange import ServerOptions
from errata.store.runs import run_by_id
from errata.store.server import live_runs_in, unpublished_runs
from errata.verbs.live import add_attempts, mark_stuck, publish, start_live
from errata.verbs.store import all_runs, open_store
from errata.verbs.tokens import create_token

START = {"key": "ci-1", "suite": "tides", "model": "acme/nimbus-2", "expected_cases": 3}
FAILED = {"key": "a-1", "case": "neap", "outcome": "fail", "output": {"text": "noon"}, "checks": []}


class Reporting(msgspec.Struct):
    """A server, a token with which runs are reported to it, and its store as somebody else opens it."""

    served: object
    store: object
    token: str

    def post(self, what: str, body: dict[str, object], **headers: str):
        head = {"Authorization": f"Bearer {self.token}", **headers}
        return self.served.client.post(f"/api/live/{what}", json=body, headers=head)

    @property
    def server(self) -> Server:
        return Server(url=self.served.url, token=self.token)

    def wait_for(self, is_so) -> None:
        until = time.monotonic() + 20
        while not is_so():
            assert time.monotonic() < until, "it did not become so"
            time.sleep(0.02)


@pytest.fixture
def reporting(serve, tmp_path, now):
    stores = []

    def start(options: ServerOptions | None = None) -> Reporting:
        empty = tmp_path / "empty.db"
        open_store(empty).engine.dispose()
        served = serve(empty, options=options)
        store = open_store(served.settings.store)
        stores.append(store)
        return Reporting(served, store, create_token("ci", ["report"], store, now=now).secret)

    yield start
    for store in stores:
        store.engine.dispose()


@pytest.mark.req("A-16")
def test_every_report_carries_a_token_that_is_checked_against_the_stored_ones(reporting, now):
    here = reporting()
    reading = create_token("ada", ["read"], here.store, now=now).secret

    for token, status in (("", 401), ("errata_000000000000_" + "x" * 43, 401), (reading, 403), (here.token, 200)):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        assert here.served.client.post("/api/live/runs", json=START, headers=headers).status_code == status
    for what in ("runs", "attempts", "steps", "checks", "artefacts", "finish"):
        assert here.served.client.post(f"/api/live/{what}", json={}).status_code == 401


@pytest.mark.req("A-16")
def test_a_runner_reports_a_run_its_evals_and_their_steps(reporting):
    here = reporting()
    with LiveRun(server=here.server, **START) as run:
        run.steps("neap", [{"index": 0, "actor": {"role": "assistant"}, "text": "It is at noon."}])
        run.attempt("neap", outcome="fail", input="When is neap tide?", output={"text": "noon"}, duration=1.5)
        run.check("neap", "points", "fail", explanation="off by two hours")
        run.artefact("neap", "answer.txt", "noon\n")
        run.attempt("high-water", outcome="pass")

    stored = run_by_id(here.store, run.id)
    view = RunView(stored, here.store)
    assert (stored.run.native_status, stored.counts.attempts, stored.counts.failures) == ("finished", 2, 1)
    attempt = next(one for one in view.attempts(steps=True) if one.is_failure)
    assert [step.text for step in attempt.steps] == ["It is at noon."]
    assert [(check.name, check.explanation) for check in attempt.checks] == [("points", "off by two hours")]
    assert [file.path for file in attempt.artefacts] == ["answer.txt"]


def test_attempts_can_be_seen_while_the_run_goes_on(reporting):
    here = reporting()
    run = here.post("runs", START).json()["run"]
    here.post("attempts", {"run": run, "attempts": [FAILED]})

    here.wait_for(lambda: [one.counts.attempts for one in all_runs(here.store)] == [1])
    assert run_by_id(here.store, run).run.native_status == "running"
    here.post("attempts", {"run": run, "attempts": [FAILED | {"key": "a-2", "case": "ebb"}]})
    here.wait_for(lambda: run_by_id(here.store, run).counts.attempts == 2)


def test_a_repeated_report_changes_nothing_and_a_key_stands_for_one_content(reporting):
    here = reporting()
    run = here.post("runs", START).json()["run"]
    assert here.post("runs", START | {"name": "again"}).json()["repeated"] == 1

    first = here.post("attempts", {"run": run, "attempts": [FAILED, FAILED]}).json()
    again = here.post("attempts", {"run": run, "attempts": [FAILED]}).json()
    other = here.post("attempts", {"run": run, "attempts": [FAILED | {"outcome": "pass"}]})

    assert ((first["accepted"], first["repeated"]), (again["accepted"], again["repeated"])) == ((1, 1), (0, 1))
    assert (other.status_code, other.json()["error"]) == (409, "The key `a-1` was used for another report")
    assert here.post("finish", {"run": run}).json()["state"] == "finished"
    assert here.post("finish", {"run": run}).json()["repeated"] == 1
    assert run_by_id(here.store, run).counts.attempts == 1


def test_a_finished_run_takes_no_more(reporting):
    here = reporting()
    with LiveRun(server=here.server, **START) as run:
        pass

    with pytest.raises(ConflictError, match="The run is finished"):
        run.attempt("neap", outcome="fail")


def test_a_report_of_the_same_attempt_replaces_the_earlier_one(reporting):
    here = reporting()
    with LiveRun(server=here.server, **START) as run:
        run.attempt("neap", execution="unfinished", measurement="not_run")
        run.attempt("neap", outcome="pass")
        run.attempt("neap", outcome="fail", index=2)

    assert run_by_id(here.store, run.id).counts.outcomes == {"pass": 1, "fail": 1}


def test_what_was_acknowledged_is_published_after_a_crash(tmp_path, now):
    """As if the server died between the answer and the import: the next one finds the reports in the journal."""
    store = open_store(tmp_path / "errata.db")
    start = msgspec.convert(START, StartReport)
    run = start_live(start, store, token="ci", now=now).run
    add_attempts(AttemptsReport(run=run, attempts=(msgspec.convert(FAILED, AttemptReport),)), store, now=now)
    store.engine.dispose()

    again = open_store(tmp_path / "errata.db")
    assert unpublished_runs(again) == [run]
    publish(run, again)

    assert unpublished_runs(again) == []
    assert run_by_id(again, run).counts.failures == 1
    again.engine.dispose()


def test_a_server_publishes_at_its_start_what_another_left_behind(tmp_path, serve, now):
    left = tmp_path / "left.db"
    store = open_store(left)
    start_live(msgspec.convert(START, StartReport), store, token="ci", now=now)
    store.engine.dispose()

    served = serve(left)

    until = time.monotonic() + 20
    while not served.client.get("/api/runs").json()["runs"]:
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_run_that_falls_silent_is_marked_and_a_report_brings_it_back(reporting):
    here = reporting(ServerOptions(stuck_after=0.3))
    run = here.post("runs", START).json()["run"]

    here.wait_for(lambda: [state.run for state, _ in live_runs_in(here.store, "stuck")] == [run])
    here.wait_for(lambda: run_by_id(here.store, run).run.native_status == "stuck")
    assert here.post("attempts", {"run": run, "attempts": [FAILED]}).json()["state"] == "running"


def test_a_run_may_allow_itself_more_silence(tmp_path, now):
    store = open_store(tmp_path / "errata.db")
    start_live(StartReport(key="slow", suite="tides", stuck_after=3600), store, token="ci", now=now)
    quick = start_live(StartReport(key="quick", suite="tides"), store, token="ci", now=now).run
    later = now.replace(year=now.year + 1)

    assert mark_stuck(store, silence=60, now=now) == []
    assert quick in mark_stuck(store, silence=60, now=later)
    assert mark_stuck(store, silence=60, now=later) == []
    store.engine.dispose()


def test_no_silence_that_a_run_allows_itself_is_too_long_to_compare(tmp_path, now):
    store = open_store(tmp_path / "errata.db")
    start_live(StartReport(key="endless", suite="tides", stuck_after=1e300), store, token="ci", now=now)

    assert mark_stuck(store, silence=60, now=now.replace(year=now.year + 1)) == []
    store.engine.dispose()


def test_the_client_sends_later_what_it_could_not_send(reporting):
    here = reporting()
    run = LiveRun(server=here.server, wait=lambda _: None, **START)
    run.__enter__()
    right = run._server
    run._server = msgspec.structs.replace(right, url="http://127.0.0.1:9")
    run.attempt("neap", outcome="fail")
    run._server = right
    run.finish()

    assert run_by_id(here.store, run.id).counts.failures == 1


def test_a_wrong_report_is_an_error_of_the_caller_with_the_field(reporting):
    here = reporting()
    with pytest.raises(SettingsError, match="outcome"), LiveRun(server=here.server, **START) as run:
        run.attempt("neap", outcome="maybe")


def test_a_body_that_is_not_json_is_refused_in_words(reporting):
    here = reporting()
    headers = {"Authorization": f"Bearer {here.token}", "Content-Type": "application/json"}
    answer = here.served.client.post("/api/live/runs", content=b"{", headers=headers)

    assert answer.status_code == 400
    assert json.loads(answer.content)["error"].startswith("The body is wrong")
