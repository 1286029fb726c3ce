"""Documents below a folder: what is damaged is told once, and nothing leads out of the folder."""

import os

import pytest

from errata.model import SourceRef
from errata.sources.base import children, head_of
from errata.sources.paths import file_names
from errata.sources.shared.documents import TEXT_CAP, Documents, files, output_artefact


@pytest.fixture
def documents(tmp_path):
    return Documents(tmp_path, "some-source")


def test_a_document_over_its_cap_is_refused(documents, tmp_path):
    (tmp_path / "large.json").write_text('{"a": "' + "x" * 2**20 + '"}')

    assert documents.get(tmp_path / "large.json", cap=2**20) == {}
    assert [problem.why for problem in documents.problems()] == ["larger than 1 MB"]


def test_a_link_is_no_document(documents, tmp_path):
    (tmp_path / "real.json").write_text('{"a": 1}')
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")

    assert documents.get(tmp_path / "link.json") == {}


def test_of_a_long_text_the_beginning_is_kept(documents, tmp_path):
    (tmp_path / "long.log").write_text("first" + "x" * TEXT_CAP)
    made = documents.artefact(tmp_path / "long.log", "log")

    assert (made.text[:5], made.truncated, made.size) == ("first", True, TEXT_CAP + 5)


def test_of_a_long_log_the_end_is_kept_where_that_tells(tmp_path):
    (tmp_path / "long.log").write_text("x" * TEXT_CAP + "last")
    made = Documents(tmp_path, "some-source", keep="end").artefact(tmp_path / "long.log", "log")

    assert (made.text[-4:], made.extra) == ("last", {"starts_at_byte": 4})


def test_where_the_beginning_of_a_log_is_left_out_its_lines_are_still_counted(tmp_path):
    lines = [f"line {number}" for number in range(1, 20_001)]
    (tmp_path / "long.log").write_text("\n".join(lines))
    from_file = Documents(tmp_path, "some-source", keep="end").artefact(tmp_path / "long.log", "log")
    (from_text,) = output_artefact("log", "stdout", "\n".join(lines), SourceRef(file="results.json"))

    for made in (from_file, from_text):
        assert made.truncated
        assert made.line_at(made.text, made.text.index("line 19000\n")) == 19_000


def test_lines_of_a_passage_are_counted_from_the_beginning_of_its_file(tmp_path):
    (tmp_path / "run.log").write_text("one\ntwo\nthree\nfour\n")
    made = Documents(tmp_path, "some-source").passage(SourceRef(file="run.log", start=8, end=19), "log")

    assert made.line_at(made.text, made.text.index("four")) == 4


def test_secrets_of_a_log_are_redacted_where_that_is_asked(documents, tmp_path):
    (tmp_path / "agent.log").write_text("ANTHROPIC_API_KEY=sk-ant-REDACTED")
    made = documents.artefact(tmp_path / "agent.log", "log", clean=True)

    assert "sk-ant-api03" not in made.text


def test_links_and_hidden_files_are_not_listed(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "a.txt").touch()
    (tmp_path / ".hidden").touch()
    (tmp_path / "link").symlink_to(tmp_path / "b")

    assert [child.name for child in children(tmp_path)] == ["a.txt", "b"]
    assert [child.name for child in files(tmp_path)] == ["a.txt"]


def test_a_folder_that_is_not_there_holds_nothing(tmp_path):
    assert children(tmp_path / "absent") == []
    assert file_names(str(tmp_path / "absent")) == []


def test_a_pipe_has_no_head(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    assert head_of(tmp_path / "pipe", 16) == b""
