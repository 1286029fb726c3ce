"""What is not whole, not finished, or not ProjectScylla's at all."""

import random

import pytest
from scylla_fixtures import ALL, CASCADE, GEN1, GEN2, HAIKU, attempts, by_test, copied, items, items_of

from errata.errors import UnknownFormatError
from errata.model import Unreadable, codec
from errata.sources import RecognisedPath, find, read, scylla
from errata.sources.base import Match


def read_anyway(path):
    return list(read(RecognisedPath(path, scylla, Match.sure("forced"))))


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.parent.parent.name)
def test_every_record_survives_the_codec(path):
    assert all(codec.from_json(codec.to_json(item), type(item)) == item for item in items_of(path))


@pytest.mark.parametrize("path", (GEN2, CASCADE, HAIKU), ids=lambda path: path.parent.parent.name)
def test_truncated_and_flipped_files_never_crash_the_reading(path, tmp_path):
    chance = random.Random(7)
    root = copied(path, tmp_path)
    for file in sorted(one for one in root.rglob("*") if one.is_file()):
        whole = file.read_bytes()
        flipped = bytearray(whole)
        flipped[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        for damaged in (b"", whole[: chance.randrange(len(whole))], bytes(flipped), b"null", b"[]", b"\xff\xfe\x00"):
            file.write_bytes(damaged)
            found = read_anyway(root)
            scylla.recognise(root)
            ids = [one.id for one in attempts(found)]
            assert len(set(ids)) == len(ids)
            assert all(codec.to_json(item) for item in found)
        file.write_bytes(whole)


def test_a_damaged_summary_leaves_the_logs_to_speak(tmp_path):
    root = copied(CASCADE, tmp_path)
    (root / "batch_summary.json").write_text('{"results": [')

    found = items(root)
    assert [item.where for item in found if isinstance(item, Unreadable)] == ["batch_summary.json"]
    assert len(by_test(found, 1)) == 12


def test_an_emptied_log_is_unreadable_and_the_summary_speaks(tmp_path):
    root = copied(CASCADE, tmp_path)
    (root / "thread_logs" / "thread_0.log").write_text("")

    found = items(root)
    assert [item.where for item in found if isinstance(item, Unreadable)] == ["thread_logs/thread_0.log"]
    assert len(by_test(found, 1)) == 12


def test_a_left_over_says_where_it_stops_and_names_the_batch():
    with pytest.raises(UnknownFormatError) as caught:
        find(GEN1 / "batch_summary.json.tmp.140213")

    assert caught.value.message == (
        "`batch_summary.json.tmp.140213` ends inside a string that starts at line 1, column 895"
    )
    assert f"errata import {GEN1}" in caught.value.hint


@pytest.mark.req("S-01")
def test_a_batch_without_a_summary_is_explained_as_not_finished(tmp_path):
    root = copied(CASCADE, tmp_path)
    (root / "batch_summary.json").unlink()

    assert scylla.recognise(root) is None
    assert "not finished" in scylla.explain(root)


def test_a_summary_given_by_itself_stands_for_its_batch():
    assert len(attempts(items(CASCADE / "batch_summary.json"))) == 12


def test_a_summary_alone_under_another_name_is_read_without_logs(tmp_path):
    (tmp_path / "x.json").write_bytes((GEN1 / "batch_summary.json").read_bytes())

    found = attempts(items(tmp_path / "x.json"))
    assert (len(found), sum(one.outcome == "pass" for one in found)) == (47, 24)
