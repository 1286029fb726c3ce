"""Reading very many small files: only regular ones, and nothing else is touched."""

import os
from pathlib import Path

import pytest

from errata.model import SourceRef
from errata.sources.base import small_file
from errata.sources.shared import documents
from errata.sources.shared.documents import TEXT_CAP, Documents


def test_a_small_file_is_given_whole(tmp_path: Path):
    file = tmp_path / "a"
    for content in (b"", b"x", b"\x00\r\n" * 10):
        file.write_bytes(content)
        assert small_file(file, 100) == small_file(str(file), 100) == content


@pytest.mark.parametrize("size", [99, 100, 101])
def test_a_larger_one_is_not(tmp_path: Path, size: int):
    (tmp_path / "a").write_bytes(b"x" * size)

    assert (small_file(tmp_path / "a", 100) is None) == (size >= 100)


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


def test_what_is_kept_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(documents, "KEPT_CAP", 10)
    for name in ("a", "b", "c"):
        (tmp_path / name).write_bytes(b'{"a": 1}')
    read = Documents(tmp_path, "harbor")

    for name in ("a", "b", "c"):
        read.get(tmp_path / name, again=True)
    for name in ("a", "b", "c"):
        (tmp_path / name).write_bytes(b'{"a": 2}')

    assert [read.get(tmp_path / name)["a"] for name in ("a", "b", "c")] == [1, 1, 2]


@pytest.mark.parametrize("content", [b"short\r\n", b"bin\x00", b"", b"\xff\n" * 10, b"x\n" * TEXT_CAP])
def test_a_small_artefact_is_that_of_the_long_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes):
    (tmp_path / "log.txt").write_bytes(content)
    read = Documents(tmp_path, "harbor", keep="end")

    short = read.artefact(tmp_path / "log.txt", "log", name="agent/log.txt", clean=True)
    monkeypatch.setattr(documents, "small_file", lambda *_: None)
    long = read.artefact(tmp_path / "log.txt", "log", name="agent/log.txt", clean=True)

    assert short == long
    assert short is not None and short.ref == SourceRef(file="log.txt")
