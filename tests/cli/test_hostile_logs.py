"""Logs are hostile: what they hold is shown washed and redacted, and values of environment variables not at all."""

import json
import os
import sqlite3
from pathlib import Path

import pytest

from errata.store.attempts import attempts_of
from errata.store.blocks import decompress
from errata.store.database import open_store
from errata.store.runs import all_runs
from terminal import FIXTURES, Said, done, errata, import_fixtures

BATCH = FIXTURES / "scylla" / "large" / "batch-gen1" / "data" / "batch-gen1"
EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m\u202egnirts\u2066 \x9b31m \x00\x08\x7f\u200f\ufeff"
BAD = [chr(code) for code in (*range(9), *range(0x0B, 0x20), *range(0x7F, 0xA0))] + list(
    "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
)
KEY = "sk-ant-api03-0123456789abcdefghij"
PASSWORD = "correct-horse-battery"
SAID = f"{EVIL} API_KEY={KEY} and DB_PASSWORD={PASSWORD} end"


def write_evil(folder: Path) -> None:
    """A log whose every text is hostile."""
    row = {
        "id": f"case {EVIL}",
        "run": f"nightly {EVIL}",
        "model": f"model {EVIL}",
        "topic": f"topic {EVIL}",
        "ok": False,
        "answer": SAID,
        "exception": SAID,
        "style": False,
        "prompt": SAID,
    }
    (folder / "rows.jsonl").write_text(json.dumps(row) + "\n" + f'{{"id": {EVIL} {KEY}\n')
    (folder / "map.toml").write_text(
        'suite = "suite"\n'
        '[run]\nname = { column = "run" }\nmodel = { column = "model" }\n'
        '[case]\nname = "id"\ncategory = "topic"\ninput = "prompt"\n'
        '[attempt]\noutput = "answer"\npassed = "ok"\nerror = "exception"\n'
        '[checks]\nstyle = "style"\n'
    )


@pytest.fixture
def evil(tmp_path):
    write_evil(tmp_path)
    return done("import", "rows.jsonl", "--map", "map.toml")


def every_command(*options: str) -> list[Said]:
    run_id = done("runs", "--json").row["run_id"]
    (failure,) = done("failures", "latest", "--json", "--raw").rows
    row = [
        errata("runs", *options),
        errata("check", "latest", *options),
        errata("failures", "latest", *options),
        errata("show", "latest", *options),
        errata("show", failure["attempt_id"], *options),
        errata("show", failure["attempt_id"], "--full", *options),
        errata("analyze", "rows.jsonl", "--map", "map.toml", *options),
        errata("import", "rows.jsonl", "--map", "map.toml", *options),
        errata("exclude", run_id, "--reason", SAID, *options),
        errata("check", "latest", *options),
        errata("runs", *options),
        errata("rm", run_id, "--yes", *options),
    ]
    assert all(one.code in (0, 1) for one in row), row
    return row


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_no_control_or_bidi_character_reaches_the_terminal(evil, options):
    for result in [evil, *every_command(*options)]:
        for text in (result.out, result.err):
            assert not [character for character in BAD if character in text], result


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_no_secret_reaches_the_terminal(evil, options):
    for result in [evil, *every_command(*options)]:
        assert KEY not in result.out + result.err
        assert PASSWORD not in result.out + result.err


@pytest.mark.parametrize("command", [["failures", "latest", "--json"], ["show", "latest/case", "--json"]])
def test_raw_shows_secrets_and_still_washes(evil, command):
    case = done("failures", "latest", "--json", "--raw").row["attempt_id"]
    command = [case if part == "latest/case" else part for part in command]

    page = done(*command, "--raw").out

    assert KEY in page
    assert PASSWORD in page
    assert not [character for character in BAD if character in page]


def test_an_error_names_a_path_without_its_escapes(tmp_path):
    result = errata("import", "no\x1b[31mwhere\u202e")

    assert result.err.startswith("error: No such file or folder: `nowhere`")


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_path_that_is_not_utf8_is_no_crash(tmp_path, options):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/log-\xff\x1b[31m"))
    folder.mkdir()
    write_evil(folder)

    row = errata("import", folder / "rows.jsonl", "--map", folder / "map.toml", *options)

    assert row.code == 0
    assert not [character for character in BAD if character in row.out + row.err]
    assert [errata(command, *options).code for command in ("runs", "doctor")] == [0, 0]
    assert errata("show", "latest", *options).code == 0
    assert errata("analyze", folder / "rows.jsonl", "--map", folder / "map.toml", *options).code == 0


@pytest.mark.trap(23)
def test_an_instruction_in_an_answer_is_shown_as_a_quote(library):
    """The answer of one eval talks to its reviewer; it stays behind the mark of a quote."""
    page = done("show", "jn709tmj/006-clients/002-optimistic_toggle", "--full", "--store", library).out

    lines = [line for line in page.splitlines() if "reviewer" in line.lower()]
    assert lines
    assert all(line.startswith("  > ") for line in lines)


def env_values() -> set[str]:
    """The secret values in the batch's command logs; paths such as `HOME` stand elsewhere in the logs as well."""
    values = set()
    for path in BATCH.rglob("command_log.json"):
        for command in json.loads(path.read_text())["commands"]:
            named = command.get("env_vars", {})
            values |= {value for name, value in named.items() if name.endswith(("KEY", "TOKEN", "PASSWORD"))}
    return values


@pytest.mark.trap(20)
def test_the_batch_has_secrets_in_its_command_logs():
    assert len(env_values()) >= 4


@pytest.mark.trap(20)
def test_no_value_of_an_environment_variable_is_in_the_store(tmp_path):
    import_fixtures(BATCH, store=tmp_path / "batch.db")
    files = b"".join(path.read_bytes() for path in tmp_path.glob("batch.db*"))
    with sqlite3.connect(tmp_path / "batch.db") as database:
        held = [
            decompress(row[0]) for table in ("blocks", "blobs") for row in database.execute(f"SELECT data FROM {table}")
        ]
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = "".join(str(list(database.execute(f"SELECT * FROM {name}"))) for name in names).encode()
    database.close()

    assert held
    for value in env_values():
        assert value.encode() not in files + rows + b"".join(held)


@pytest.mark.trap(20)
def test_no_value_of_an_environment_variable_is_in_any_output(library):
    store = open_store(library)
    (run,) = [one for one in all_runs(store) if one.run.subject.model == "sonnet"]
    ids = [attempt.id for attempt in attempts_of(store, run.pk)]

    page = [done("show", name, "--json", "--raw", "--store", library).out for name in [run.run.id, *ids]]
    page += [done("failures", run.run.id, "--json", "--raw", "--store", library).out]

    assert len(ids) == 165
    for value in env_values():
        assert not [text for text in page if value in text]
