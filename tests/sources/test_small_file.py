"""Reading very many small files: only regular ones, and nothing else is touched."""

import os
from pathlib import Path

import pytest

from errata.sources.base import small_file
from errata.sources.shared import documents
from errata.sources.shared.documents import Documents


def test_what_is_no_file_of_its_own_is_not_read(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "gone").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")

    for name in ("link", "gone", "pipe", ".", "missing", "a/b", "a\x00b"):
        assert small_file(tmp_path / name, 100) is None


def test_a_document_that_is_needed_again_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    names: list[str] = []
    monkeypatch.setattr(
        documents, "small_file", lambda path, most: (names.append(Path(path).name), small_file(path, most))[1]
    )
    (tmp_path / "a.json").write_bytes(b'{"a": 1}')
    (tmp_path / "bad.json").write_bytes(b'{"a": ')
    read = Documents(tmp_path, "harbor")

    assert [read.get(tmp_path / "a.json", again=True), read.get(tmp_path / "a.json")] == [{"a": 1}, {"a": 1}]
    assert [read.get(tmp_path / "bad.json", again=True), read.get(tmp_path / "bad.json")] == [{}, {}]
    assert names == ["a.json", "bad.json"]
    assert [problem.where for problem in read.problems()] == ["bad.json", "bad.json"]
    assert read.get(tmp_path / "a.json") == {"a": 1}, "it is not kept any longer"
    assert names[2:] == ["a.json"]
