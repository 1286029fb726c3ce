"""A large archive is read by several processes that take turns; what comes out is what one of them would read alone."""

import json
from itertools import chain

import pytest
from inspect_ai_logs import items, log, raw, zipfile

from errata.errors import ReadAloneError
from errata.model import Attempt, Case, Run, Unreadable
from errata.model.record import TurnBegins
from errata.sources import OF_ARCHIVES, RecognisedPath, all_sources, inspect_ai, read_share
from errata.sources.base import Match, ReaderShare

COUNT = 130


def a_log(to, *, epochs=1, damage=(), planned=()):
    """Samples of a real log under new names, each in a member of its own; `damage` are samples cut off."""
    header, samples = raw(log("demo_eval"))
    header["eval"]["config"]["epochs"] = epochs
    header["eval"]["dataset"]["sample_ids"] = [f"s{number}" for number in range(COUNT // epochs)] + list(planned)
    summaries = []
    with zipfile.ZipFile(to, "w") as archive:
        for number in range(COUNT):
            ident, epoch = f"s{number // epochs}", number % epochs + 1
            sample = samples[number % len(samples)] | {"id": ident, "epoch": epoch}
            text = json.dumps(sample)
            archive.writestr(f"samples/{ident}_epoch_{epoch}.json", text[: 50 if number in damage else None])
            summaries.append({name: sample.get(name) for name in ("id", "epoch", "input", "target", "scores")})
        archive.writestr("summaries.json", json.dumps(summaries))
        archive.writestr("header.json", json.dumps(header))
    return to


def shares_of(path, count):
    """What each reader yields: the first one comes last, since it hears what the others tell."""
    found = RecognisedPath(path, inspect_ai, Match.sure("given"))
    result = []
    others = [list(read_share(found, ReaderShare(number, count, result.append, list))) for number in range(1, count)]
    return [list(read_share(found, ReaderShare(0, count, result.append, lambda: result))), *others]


def in_turns(shares):
    """As the writing process puts them together: by turns, with what comes before the first one of each reader."""
    before, turns = [], {}
    for share in shares:
        place = before
        for item in share:
            if isinstance(item, TurnBegins):
                place = turns[item.seq] = []
            else:
                place.append(item)
    return before, list(chain.from_iterable(turns[seq] for seq in sorted(turns)))


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("changes", [{}, {"damage": (0, 30, 31, 129)}, {"planned": ("never made",)}])
def test_all_shares_in_the_order_of_their_turns_are_the_log(tmp_path, count, changes):
    path = a_log(tmp_path / "log.eval", **changes)
    alone = items(path)

    before, rest = in_turns(shares_of(path, count))

    assert {type(item) for item in before} == {Run}
    assert [before[0], *rest] == alone
    assert sum(isinstance(item, Attempt) for item in rest) == COUNT + len(changes.get("planned", ()))
    assert sum(isinstance(item, Unreadable) for item in rest) == len(changes.get("damage", ()))


def test_no_reader_reads_everything(tmp_path):
    first, second = shares_of(a_log(tmp_path / "log.eval"), 2)

    assert 50 < sum(isinstance(item, Case) for item in first) < COUNT - 50
    assert 50 < sum(isinstance(item, Case) for item in second) < COUNT - 50


@pytest.mark.parametrize("epochs", [2, 10])
def test_samples_that_stand_there_several_times_are_read_by_one(tmp_path, epochs):
    path = a_log(tmp_path / "log.eval", epochs=epochs)

    assert shares_of(path, 2) == [items(path), []]


@pytest.mark.parametrize("path", [log("demo_eval"), log("demo_json")], ids=["few samples", "no archive"])
def test_a_small_log_is_read_by_one(path):
    assert shares_of(path, 2) == [items(path), []]


def test_a_sample_under_the_name_of_another_one_can_only_be_read_by_one(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(a_log(tmp_path / "good.eval")) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name.replace("s7_", "other_"), old.read(name))

    with pytest.raises(ReadAloneError, match="under the name of another one"):
        shares_of(path, 2)
    assert sum(isinstance(item, Attempt) for item in items(path)) == COUNT


def test_only_the_sources_that_are_asked_for_archives_recognise_one(tmp_path):
    path = a_log(tmp_path / "log.eval")

    assert [name for name, source in all_sources().items() if source.recognise(path)] == list(OF_ARCHIVES)
