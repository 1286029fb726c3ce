"""Documents below a folder: what is damaged is told once, and nothing leads out of the folder."""

import os
import re
from itertools import islice

import pytest

from errata.model import SourceRef
from errata.sources.base import children, folders, head_of, heads_kept
from errata.sources.paths import file_names, folder_names
from errata.sources.shared.documents import TEXT_CAP, Documents, files, output_artefact


@pytest.fixture
def documents(tmp_path):
    return Documents(tmp_path, "some-source")


def test_an_absent_document_is_empty_and_no_problem(documents, tmp_path):
    assert documents.get(tmp_path / "absent.json") == {}
    assert list(documents.problems()) == []


@pytest.mark.parametrize("content", ["{", "[1]", '"text"', ""])
def test_what_is_no_object_is_empty_and_told_once(documents, tmp_path, content):
    (tmp_path / "bad.json").write_text(content)

    assert documents.get(tmp_path / "bad.json") == {}
    assert [problem.where for problem in documents.problems()] == ["bad.json"]
    assert list(documents.problems()) == []


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


def test_a_binary_file_has_no_text(documents, tmp_path):
    (tmp_path / "core").write_bytes(b"\x7fELF\x00\x00")

    assert documents.artefact(tmp_path / "core", "log").text is None


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


def test_names_are_listed_as_paths_are(tmp_path):
    for name in ("b", "a", ".hidden"):
        (tmp_path / f"{name}.d").mkdir()
        (tmp_path / f"{name}.txt").touch()
    (tmp_path / "link.d").symlink_to(tmp_path / "b.d")
    (tmp_path / "link.txt").symlink_to(tmp_path / "b.txt")

    assert file_names(str(tmp_path)) == [file.name for file in files(tmp_path)] == ["a.txt", "b.txt"]
    assert folder_names(tmp_path) == [folder.name for folder in folders(tmp_path)] == ["a.d", "b.d"]


def test_paths_of_a_folder_are_made_when_they_are_taken(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()

    with heads_kept():
        first, *_ = islice(folders(tmp_path), 1)
        made = [entry._path for entry in folders(tmp_path)._entries]

    assert made == [first, None, None]


def test_folders_are_found_by_how_their_names_begin(tmp_path):
    for name in ("001-one", "other", "002-two"):
        (tmp_path / name).mkdir()

    assert folders(tmp_path, named=re.compile(r"\d{3}-")) == [tmp_path / "001-one", tmp_path / "002-two"]


def test_a_document_is_read_by_a_path_or_its_text(documents, tmp_path):
    file = tmp_path / "below" / "document.json"
    file.parent.mkdir()
    file.write_text('{"a": 1}')

    assert documents.get(str(file)) == documents.get(file) == {"a": 1}
    assert documents.ref(str(file)) == documents.ref(file) == SourceRef(file="below/document.json")
    assert documents.artefact(str(file), "log") == documents.artefact(file, "log")


def test_a_document_that_cannot_be_read_is_a_problem_by_the_text_of_its_path_too(documents, tmp_path):
    (tmp_path / "cut.json").write_text('{"a": ')

    assert documents.get(str(tmp_path / "cut.json")) == {}
    assert [problem.where for problem in documents.problems()] == ["cut.json"]


def test_a_folder_that_is_not_there_holds_nothing(tmp_path):
    assert children(tmp_path / "absent") == []
    assert file_names(str(tmp_path / "absent")) == []


def test_the_head_of_a_file_is_without_its_byte_order_mark(tmp_path):
    (tmp_path / "file").write_bytes(b"\xef\xbb\xbf{}")

    assert head_of(tmp_path / "file", 16) == b"{}"


def test_a_pipe_has_no_head(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    assert head_of(tmp_path / "pipe", 16) == b""


def test_a_name_that_no_file_can_have_has_no_head(tmp_path):
    assert head_of(tmp_path / "a\x00b", 16) == b""
