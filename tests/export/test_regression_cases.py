"""Draft regression cases: what each format holds, and what must not get into it."""

import json
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from errata.export.regression_cases import DraftCase, dataset_row, inspect_sample, promptfoo_test, to_yaml
from errata.model import Case, case_key
from errata.sources.errata_jsonl.lines import write_lines
from errata.testing import a_run, an_attempt
from suite_of_runs import write_logs
from terminal import FIXTURES, done, errata

PROMPTFOO = FIXTURES / "promptfoo/export/data"


@pytest.fixture(autouse=True)
def logs(at_home):
    write_logs(Path("logs"), {"a": "+-x", "b": "+--"}, model="m", category="counting")
    done("import", "logs")


def exported(form, *arguments):
    result = done("export", "a", "b", "--to", form, "--force", *arguments)
    return result, Path(f"regression_cases/{'promptfoo.yaml' if form == 'promptfoo' else form + '.jsonl'}").read_text()


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


def test_each_case_is_a_draft_with_its_origin_and_is_there_once():
    result, text = exported("inspect")
    rows = rows_of(text)

    assert [(row["id"], row["input"], row["target"]) for row in rows] == [
        ("case-01", "How many?", "412"),
        ("case-02", "How many?", "412"),
    ]
    assert all(row["metadata"]["draft"] is True for row in rows)
    origin = rows[0]["metadata"]["origin"]
    assert (origin["run"], origin["case"], origin["owner"], len(origin["attempts"])) == ("a", "case-01", "model", 2)
    assert "2 draft cases, 2 with an answer" in result.out
    assert "skipped 1 failure: infrastructure failures" in result.talk


def test_the_filters_of_failures_choose_the_cases():
    _, by_case = exported("dataset", "--case", "case-02")
    _, by_owner = exported("dataset", "--owner", "provider")
    _, limited = exported("dataset", "--limit", "1")

    assert [row["id"] for row in rows_of(by_case)] == ["case-02"]
    assert [row["origin"]["owner"] for row in rows_of(by_owner)] == ["provider"]
    assert len(rows_of(limited)) == 1
    assert errata("export", "a", "--to", "dataset", "--force", "--category", "countng").code == 2


def test_promptfoo_gets_vars_assertions_and_metadata():
    _, text = exported("promptfoo")
    first, _ = yaml.safe_load(text)

    assert text.startswith("# Draft regression cases")
    assert first["description"] == "case-01"
    assert first["vars"] == {"input": "How many?"}
    assert first["assert"] == [{"type": "equals", "value": "412"}]
    assert (first["metadata"]["draft"], first["metadata"]["category"]) == (True, "counting")


def test_promptfoos_own_assertions_stay_where_they_only_compare_texts():
    done("import", PROMPTFOO)
    runs = [one["run_id"] for one in done("runs", "--source", "promptfoo", "--json").rows]
    done("export", *runs, "--to", "promptfoo", "-o", "own")
    tests = yaml.safe_load(Path("own/promptfoo.yaml").read_text())

    kinds = {one["type"] for test in tests for one in test.get("assert", ())}
    assert kinds
    assert not kinds & {"javascript", "python", "webhook"}


def test_a_file_is_overwritten_only_when_asked():
    exported("dataset")
    result = errata("export", "a", "--to", "dataset")

    assert (result.code, "already exists" in result.talk) == (2, True)


def test_whole_runs_take_no_filters():
    result = errata("export", "a", "--to", "csv", "--owner", "model")

    assert (result.code, "takes no filters" in result.talk) == (2, True)


def a_draft(**changes):
    return DraftCase(**{"id": "c", "input": "q", "origin": {"run": "r"}} | changes)


def test_an_answer_that_the_log_does_not_have_is_not_invented():
    assert "target" not in inspect_sample(a_draft())
    assert "expected" not in dataset_row(a_draft())
    assert "assert" not in promptfoo_test("c", "q", None, (), {})


def test_inspect_gets_texts_of_messages_and_never_files_to_load():
    parts = [{"type": "text", "text": "look"}, {"type": "image", "image": "/etc/passwd"}]
    sample = inspect_sample(a_draft(input=[{"role": "user", "content": parts, "id": "1"}]))

    assert sample["input"] == [{"role": "user", "content": "look"}]
    assert sample["metadata"]["content_left_out"] == 1


@pytest.mark.parametrize("text", ["file:///etc/passwd", " FILE://x.js", "package:x", "exec:rm", "{% endraw %}{{ x }}"])
def test_promptfoo_gets_no_text_that_it_would_load_or_run(text):
    assert promptfoo_test("c", {"q": [text]}, None, (), {}) is None
    assert "assert" not in (promptfoo_test("c", "q", text, (text,), {}) or {})


def test_promptfoo_gets_braces_as_letters_and_code_not_at_all():
    code = {"type": "javascript", "value": "process.exit()"}
    test = promptfoo_test("c", {"q": "{{ env.KEY }}"}, [code, {"type": "equals", "value": "x"}], (), {})

    assert test["vars"] == {"q": "{% raw %}{{ env.KEY }}{% endraw %}"}
    assert test["assert"] == [{"type": "equals", "value": "x"}]
    assert test["metadata"] == {"assertions_left_out": 1}


def test_a_secret_in_an_input_is_removed_and_counted():
    write_logs(Path("more"), {"k": "-"}, model="m", task="key sk-ant-api03-abcdefghijklmnopqrstuvwx ?")
    done("import", "more")
    row = done("export", "k", "--to", "dataset", "-o", "out", "--json").row

    assert row["changed"] == 1
    assert "sk-ant-api03" not in Path("out/dataset.jsonl").read_text()


LETTERS = st.text(st.characters(codec="utf-8", exclude_categories=["C"]))
TREES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(codec="utf-8", exclude_categories=["C"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abyno -:#'\"", max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(st.lists(TREES, max_size=3))
def test_every_yaml_parser_reads_back_what_was_written(rows):
    assert yaml.safe_load(to_yaml(rows)) == msgspec.to_builtins(rows)


def test_names_of_cases_and_their_origin_hold_no_secret_and_stay_apart():
    keys = [f"sk-ant-api03-{letter * 40}7" for letter in "ab"]
    run = a_run(native_id=f"nightly {keys[0]}")
    items = [run]
    for key in keys:
        name = f"case {key}"
        items.append(
            Case(run=run.id, suite=run.suite, native_id=name, input="Why?", category=f"of {key}", tags=(f"tag {key}",))
        )
        items.append(an_attempt(run=run.id, case=case_key(run.suite, name), outcome="fail", measurement="scored"))
    Path("secret.jsonl").write_bytes(b"".join(write_lines(items)))
    done("import", "secret.jsonl")

    for form in ("inspect", "promptfoo", "dataset"):
        done("export", run.id, "--to", form, "-o", "out")
        text = "".join(file.read_text() for file in Path("out").iterdir())
        assert "tag [redacted:" in text
        assert not any(key[13:30] in text for key in keys)
    names = [row["id"] for row in rows_of(Path("out/inspect.jsonl").read_text())]
    assert len(set(names)) == 2, names
