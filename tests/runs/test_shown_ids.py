"""An id or a name that was printed without its secrets names the same case when it is pasted."""

import json
import random

import pytest
from soak.secret_strings import leaks, make

from errata.model import Attempt, Check, case_key
from errata.sources.errata_jsonl.lines import write_lines
from errata.testing import a_run
from terminal import done, errata

SECRETS = {
    "of one line": make("", "DEPLOY_KEY={32}", random.Random(4)),
    "of several lines": make("", "Private-Lines: 2\n{64b}\n{40b}\nPrivate-MAC: 0", random.Random(4)),
}


def stored(folder, *names):
    """A store with a failure of each of these cases."""
    record = a_run()
    check = Check(name="right", status="fail", explanation="It was another one")
    fields = {"execution": "completed", "measurement": "scored", "outcome": "fail", "checks": (check,)}
    failed = [Attempt(run=record.id, case=case_key(record.suite, name), **fields) for name in names]
    (folder / "run.jsonl").write_bytes(b"".join(write_lines([record, *failed])))
    done("import", folder / "run.jsonl", "--store", folder / "errata.db")
    return "--store", folder / "errata.db"


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_every_id_and_name_of_a_failure_that_is_printed_can_be_pasted(tmp_path, secret):
    store = stored(tmp_path, f"case {secret.text}", "another")
    failures = map(json.loads, done("failures", "latest", "--json", *store).out.splitlines())
    printed = next(one for one in failures if "redacted" in one["attempt_id"])
    names = [printed["attempt_id"], f"latest/{printed['case']}", f"latest/{printed['case']}#1", printed["case"]]

    for name in names + [" ".join(name.split()) for name in names]:
        shown = done("show", name, "--json", *store).out
        assert json.loads(shown)["attempt"]["id"] == printed["attempt_id"]
        assert not leaks(secret, shown)


def test_two_cases_that_only_their_secrets_tell_apart_are_never_mixed_up(tmp_path):
    first, second = (make("", "DEPLOY_KEY={32}", random.Random(seed)) for seed in (4, 5))
    store = stored(tmp_path, f"case {first.text}", f"case {second.text}")
    printed = json.loads(done("failures", "latest", "--json", *store).out.splitlines()[0])

    refused = errata("show", printed["attempt_id"], *store)

    assert refused.code == 2
    assert "only their secrets differ" in " ".join(refused.err.split())
