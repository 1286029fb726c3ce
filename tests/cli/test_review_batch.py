"""`errata review run --batch` as a user runs it."""

import pytest
from soak.batch_provider import running

from errata.cli.review import run
from reading import RUN_B
from terminal import done, errata, import_fixtures


@pytest.fixture
def provider(at_home):
    import_fixtures(RUN_B)
    with running() as provider:
        yield provider


def command(provider, *options):
    return errata("review", "run", "latest", "--batch", "--base-url", provider.url, "--model", "m", *options)


def test_it_is_submitted_shown_by_status_and_collected_by_the_same_command(provider):
    sent = command(provider, "--yes")
    status = done("review", "status", "latest")
    again = command(provider, "--yes")
    provider.finish()
    collected = command(provider)

    assert "sent     9 requests in batch `batch_000002`" in sent.out and "in batches as `llm:m@" in sent.talk
    assert "0 of 9 requests done · validating" in status.out
    assert "9 in a batch" in again.talk and "waiting  9 requests in batches" in again.out
    assert "completed, 9 answered" in collected.talk and "Reviewed 9 of 9" in collected.out
    assert [one.code for one in (sent, again, collected)] == [0, 0, 0]


def test_json_names_every_batch(provider):
    (sent,) = command(provider, "--yes", "--json").row["batches"]
    (waiting,) = done("review", "status", "latest", "--json").row["batches"]
    provider.finish()
    result = command(provider, "--json").row

    assert (sent["state"], sent["requests"], sent["remote"]) == ("submitted", 9, "batch_000002")
    assert waiting["id"] == sent["id"]
    assert (result["reviewed"], result["calls"]) == (9, 9)
    assert [(one["id"], one["answered"]) for one in result["batches"]] == [(sent["id"], 9)]


def test_waiting_goes_on_until_repairs_are_answered_too(provider, monkeypatch):
    sleeps = []

    def sleep(seconds):
        sleeps.append(seconds)
        provider.finish(kind=lambda _: "good" if len(sleeps) > 1 else "altered")

    monkeypatch.setattr(run.time, "sleep", sleep)
    waited = command(provider, "--yes", "--wait")

    assert "Reviewed 9 of 9" in waited.out and "18 calls" in waited.out
    assert sleeps == [20.0, 30.0]


def test_what_was_submitted_can_be_cancelled(provider):
    command(provider, "--yes")
    cancelled = command(provider, "--cancel")
    provider.finish("cancelled", only=0)
    command(provider, "--json")
    nothing = command(provider, "--cancel")

    assert cancelled.code == 0 and "collects the answers that arrived before" in cancelled.talk
    assert "no open batch" in nothing.out


def test_nothing_is_submitted_without_consent_and_a_dry_run_asks_nobody(provider):
    refused = command(provider)
    dry = command(provider, "--dry-run")

    assert refused.code == 2 and "there is no terminal to confirm it" in refused.talk
    assert dry.code == 0 and "nothing was sent" in dry.talk
    assert provider.seen == []


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--batch", "--model", "openai:x", "--passes", "2"), "`--batch` and `--passes 2`"),
        (("--batch", "--model", "openai:x", "--with-tools"), "`--batch` and `--with-tools`"),
        (("--batch", "--command", "cat"), "`--batch` is for models"),
        (("--wait", "--model", "openai:x"), "`--wait` needs `--batch`"),
        (("--batch", "--wait", "--cancel", "--model", "openai:x"), "`--wait` and `--cancel`"),
    ],
)
def test_options_that_do_not_fit_are_refused(at_home, options, problem):
    import_fixtures(RUN_B)
    refused = errata("review", "run", "latest", *options)

    assert refused.code == 2 and problem in refused.talk


def test_a_server_without_batches_is_named(provider):
    provider.refuse["POST", "/files"] = (404, "unknown path")
    refused = command(provider, "--yes")

    assert refused.code == 2 and "this server has no batch endpoint" in refused.talk
