"""Logs in object storage are copied, read and removed; names and sizes are checked before anything is written."""

import tempfile
from pathlib import Path

import pytest

from errata.errors import FetchError
from errata.fetch import objects
from errata.fetch.objects import copied, expand, is_object_address, place_of_copy, public
from terminal import FIXTURES, errata

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: `pip install '.[remote]'`")
RUN = FIXTURES / "convex_evals" / "run_a" / "data" / "run-a"


@pytest.fixture
def bucket(monkeypatch, tmp_path):
    """Storage in memory, and a folder in which copies would be left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    memory = fsspec.filesystem("memory")
    yield memory
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]
    assert not list(tmp_path.glob("errata-objects-*"))


def fill(bucket, folder: Path, prefix: str) -> None:
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            bucket.pipe(f"{prefix}/{file.relative_to(folder).as_posix()}", file.read_bytes())


def test_a_prefix_is_copied_whole_under_its_own_name(bucket):
    fill(bucket, RUN, "/logs/run-a")

    with copied("memory://logs/run-a") as copy:
        assert copy.name == "run-a"
        there = {file.relative_to(copy): file.read_bytes() for file in copy.rglob("*") if file.is_file()}
    assert there == {file.relative_to(RUN): file.read_bytes() for file in RUN.rglob("*") if file.is_file()}


def test_one_object_is_copied_as_one_file(bucket):
    bucket.pipe("/logs/one.jsonl", b"{}\n")

    with copied("memory://logs/one.jsonl") as copy:
        assert (copy.name, copy.read_bytes()) == ("one.jsonl", b"{}\n")


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "a//b", "./x"])
def test_a_name_that_leads_elsewhere_is_refused_before_anything_is_written(bucket, name, monkeypatch):
    found = {"/logs/run/a.json": {"type": "file", "size": 1}, f"/logs/run/{name}": {"type": "file", "size": 1}}
    monkeypatch.setattr(type(bucket), "find", lambda *_, **__: found)
    monkeypatch.setattr(objects, "_copy", lambda *_: pytest.fail("something was copied"))

    with pytest.raises(FetchError, match="a name that no file can have"), copied("memory://logs/run"):
        pass


def test_more_than_the_disk_holds_is_refused(bucket, monkeypatch):
    bucket.pipe("/logs/one.jsonl", b"12345")
    monkeypatch.setattr(objects, "SPARE", 0.0)

    with pytest.raises(FetchError, match="GB free"), copied("memory://logs/one.jsonl"):
        pass


@pytest.mark.parametrize(("stated", "why"), [(3, "grew"), (9, "was cut off")])
def test_an_object_of_another_size_than_listed_is_refused(bucket, monkeypatch, stated, why):
    bucket.pipe("/logs/one.jsonl", b"12345")
    monkeypatch.setattr(objects, "_listed", lambda *_: {"/logs/one.jsonl": stated})

    with pytest.raises(FetchError, match=why), copied("memory://logs/one.jsonl"):
        pass


def test_nothing_at_an_address_is_an_error_in_words(bucket):
    with pytest.raises(FetchError, match="No object at `memory://logs/none`"), copied("memory://logs/none"):
        pass


def test_a_pattern_stands_for_its_matches_in_order(bucket):
    for name in ("b", "a", "c/d"):
        bucket.pipe(f"/logs/{name}.jsonl", b"{}\n")

    assert expand("memory://logs/*.jsonl") == ["memory:///logs/a.jsonl", "memory:///logs/b.jsonl"]
    with pytest.raises(FetchError, match="No object matches"):
        expand("memory://logs/*.csv")


@pytest.mark.parametrize("url", ["nowhere://bucket/logs", "zip://a::memory://b"])
def test_a_protocol_that_nobody_speaks_is_an_error_in_words(bucket, url):
    with pytest.raises(FetchError) as refused, copied(url):
        pass
    assert refused.value.hint


def test_credentials_in_an_address_are_neither_shown_nor_kept():
    assert public("s3://key:secret@bucket/logs?token=x") == "s3://bucket/logs"
    assert place_of_copy("/tmp/x/logs/a.json", Path("/tmp/x/logs"), "s3://key:secret@bucket/logs") == (
        "s3://bucket/logs/a.json"
    )


def test_web_addresses_and_paths_are_not_object_storage():
    addresses = ["s3://bucket/logs", "gs://b", "https://host/run", "runs/a", "C:logs", "memory://x"]

    assert list(map(is_object_address, addresses)) == [True, True, False, False, False, True]


def test_an_import_from_object_storage_equals_one_from_a_folder_and_keeps_the_address(bucket, at_home):
    fill(bucket, RUN, "/logs/run-a")

    remote = errata("--store", "remote.db", "import", "memory://logs/run-a", "--json")
    local = errata("--store", "local.db", "import", RUN, "--json")

    assert remote.code == local.code == 0, remote
    assert remote.row.pop("path") == "memory://logs/run-a"
    local.row.pop("path")
    assert {**remote.row, "path": ""} == {**local.row, "path": ""}
    again = errata("--store", "remote.db", "import", "memory://logs/*", "--json")
    assert again.row["change"] == "unchanged"


def test_an_address_without_objects_ends_with_exit_2(bucket, at_home):
    result = errata("import", "memory://logs/none")

    assert (result.code, "No object at `memory://logs/none`" in result.talk) == (2, True)
