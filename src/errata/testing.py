"""Test kit for authors of sources: `check_source` tests what every source must withstand; factories build records.

```python
def test_my_source_keeps_the_rules(tmp_path):
    check_source(my_source, Path("fixtures/one-run"), tmp_path)
```
"""

import random
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from errata import sources
from errata.errors import ErrataError
from errata.model import Attempt, Case, Item, Run, SourceInfo, Unreadable
from errata.model.attempt import as_number
from errata.model.obstacles import conduct_in
from errata.sources import RecognisedPath
from errata.sources.base import Match, Source
from errata.store.attempts import attempts_of, case_of, run_with_texts, with_texts
from errata.store.database import open_store
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import run_by_id, unreadables_of

CUTS = 2
FLIPS = 1


class SourceLog(msgspec.Struct, frozen=True):
    """A valid log of the format, and the folder that has to be copied with it."""

    path: Path
    within: Path

    def copy(self, to: Path) -> Path:
        """Returns the path of the copied log."""
        to.mkdir(parents=True)
        whole = to / self.within.name
        if self.within.is_dir():
            shutil.copytree(self.within, whole)
        else:
            shutil.copy(self.within, whole)
        return whole / self.path.relative_to(self.within)


def check_source(
    source: Source,
    path: Path,
    scratch: Path,
    *,
    ignored: Iterable[str] = (),
    within: Path | None = None,
    named: bool = False,
) -> None:
    """Test a source on a valid log of its format; `AssertionError` names the first rule that it breaks.

    `ignored`: what the source leaves out on purpose, as `file#/pointer` patterns with `*`. `within`: the folder with
    everything the log refers to, if that is more than the log itself. `named`: the format recognises its logs by name,
    such as one that is described by a mapping file beside the logs.
    """
    log = SourceLog(path, within or path)
    items = list(_read(source, path))
    assert any(isinstance(item, Run) for item in items), f"{source.NAME} reads no run at {path}"
    _recognised(source, log, scratch, named=named)
    _ids_are_unique(items)
    _refers_to_places(items)
    assert items == list(_read(source, path)), "reading twice gives different records"
    _survives_the_store(items, scratch)
    _damage_is_data(source, log, scratch)
    _nothing_is_lost(source, log, scratch, tuple(ignored))


def a_run(**changes: Any) -> Run:
    """A run for tests: pass only the fields that matter to the test."""
    fields: dict[str, Any] = {"native_id": "run-1", "source": SourceInfo(name="test"), "suite": "suite"}
    return Run(**fields | changes)


def an_attempt(**changes: Any) -> Attempt:
    """A failed attempt for tests."""
    fields: dict[str, Any] = {
        "run": "0" * 16,
        "case": "suite/case-1",
        "execution": "completed",
        "measurement": "scored",
        "outcome": "fail",
    }
    return Attempt(**fields | changes)


def _read(source: Source, path: Path) -> Iterator[Item]:
    return sources.read(RecognisedPath(path, source, Match.sure("given")))


def _recognised(source: Source, log: SourceLog, scratch: Path, *, named: bool) -> None:
    path = log.path
    assert source.recognise(path) is not None, f"{source.NAME} does not recognise {path}"
    others = [
        other.NAME
        for other in sources.all_sources().values()
        if other.NAME != source.NAME and (match := other.recognise(path)) is not None and match.confidence == "sure"
    ]
    assert not others, f"{others} claim {path} too"
    copy = log.copy(scratch / "renamed")
    renamed = copy.rename(copy.with_name("any-name"))
    assert named or source.recognise(renamed) is not None, f"{source.NAME} knows {path} by its name, not its content"
    for wrong in _wrong_paths(scratch / "wrong"):
        assert source.recognise(wrong) is None, f"{source.NAME} claims {wrong.name}"


def _wrong_paths(folder: Path) -> list[Path]:
    folder.mkdir(parents=True)
    (folder / "empty").write_bytes(b"")
    (folder / "binary").write_bytes(bytes(range(256)) * 16)
    (folder / "other.json").write_text('{"hello": "world"}')
    (folder / "other.jsonl").write_text('{"hello": "world"}\n' * 3)
    (folder / "other.csv").write_text("a,b\n1,2\n")
    (folder / "list.json").write_text("[1, 2, 3]")
    (folder / "text.md").write_text("# notes\n")
    (folder / "folder").mkdir()
    return [*folder.iterdir(), folder / "missing"]


def _ids_are_unique(items: list[Item]) -> None:
    ids = Counter(item.id for item in items if isinstance(item, Attempt))
    twice = [name for name, count in ids.items() if count > 1]
    assert not twice, f"attempt ids are given twice: {twice[:3]}"
    runs = {item.id for item in items if isinstance(item, Run)}
    for item in items:
        if isinstance(item, Attempt | Case):
            assert item.run in runs, f"{item.ref} belongs to a run that was not yielded"
        if isinstance(item, Attempt):
            for other in (item.parent, item.superseded_by, item.duplicate_of, item.follows):
                assert other is None or other in ids, f"{item.id} points to an attempt that is not there: {other}"


def _refers_to_places(items: list[Item]) -> None:
    for item in items:
        assert item.ref is not None, f"{type(item).__name__} without a ref: {item!r:.200}"
        assert not Path(item.ref.file).is_absolute(), f"{item.ref} is not relative to the log"


def _survives_the_store(items: list[Item], scratch: Path) -> None:
    store = open_store(scratch / "store.db")
    with Importing(store) as importing:
        for batch in seal(pack_items(items)):
            importing.add(batch)
        importing.finish()
    runs = {item.id: item for item in items if isinstance(item, Run)}
    for run_id, run in runs.items():
        stored = run_by_id(store, run_id)
        assert run_with_texts(store, stored) == run, f"run {run.native_id} changes on its way through the store"
        read = [item for item in items if isinstance(item, Attempt) and item.run == run_id]
        back = [with_texts(store, attempt) for attempt in attempts_of(store, stored.pk, steps=True)]
        for before, after in zip(read, back, strict=True):
            # what the subject did is counted on the way in
            counted = msgspec.structs.replace(before, conduct=conduct_in(before))
            # of a run with numbers on a scale, 1 and 0 are numbers, too
            counted = as_number(counted) if after.outcome == "number" != before.outcome else counted
            as_read = msgspec.structs.replace(after, case_version=before.case_version)
            assert counted == as_read, f"attempt {before.id} changes on its way through the store"
        described = [item for item in items if isinstance(item, Case) and item.run == run_id]
        often = Counter(case.key for case in described)
        for case in (one for one in described if often[one.key] == 1):
            assert case_of(store, stored.pk, case.key) == case, f"case {case.key} changes on its way through the store"
        if len(runs) == 1:
            kept = {(item.where, item.why) for item in unreadables_of(store, stored.pk)}
            assert kept == {(item.where, item.why) for item in items if isinstance(item, Unreadable)}


def _damage_is_data(source: Source, log: SourceLog, scratch: Path) -> None:
    """Truncated, emptied and corrupted copies are read as far as possible; only an `ErrataError` may refuse them."""
    chance = random.Random(7)  # noqa: S311 repeatable, not secret
    copy = log.copy(scratch / "damaged")
    for name in _one_of_each(_files(copy)):
        file = copy / name if copy.is_dir() else copy
        whole = file.read_bytes()
        damaged = [whole[: chance.randrange(len(whole) + 1)] for _ in range(CUTS)]
        damaged += [_flipped(whole, chance) for _ in range(FLIPS)]
        for data in (b"", b"null", b"[]", b'{"', b"\xff\xfe\x00", *damaged):
            file.write_bytes(data)
            source.recognise(copy)
            with suppress(ErrataError):
                for item in source.read(copy):
                    assert isinstance(item, Run | Case | Attempt | Unreadable)
        file.write_bytes(whole)


def _flipped(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    for _ in range(3):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _nothing_is_lost(source: Source, log: SourceLog, scratch: Path, ignored: tuple[str, ...]) -> None:
    """Change one value of the log at a time: some record must change with it."""
    copy = log.copy(scratch / "perturbed")
    before = list(_read(source, copy))
    lost = []
    for name in _one_of_each(_files(copy)):
        file = copy / name if copy.is_dir() else copy
        whole = file.read_bytes()
        for place, data in _perturbed(whole):
            if any(fnmatchcase(f"{name}#{place}", pattern) for pattern in ignored):
                continue
            file.write_bytes(data)
            with suppress(ErrataError):
                if list(_read(source, copy)) == before:
                    lost.append(f"{name}#{place}")
        file.write_bytes(whole)
    assert not lost, f"{source.NAME} loses the values at: {lost}"


def _perturbed(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Change each place of a JSON document or of JSON lines once, in whichever row or list element it first occurs."""
    try:
        rows, lines = [msgspec.json.decode(data)], False
    except msgspec.DecodeError:
        try:
            rows, lines = [msgspec.json.decode(line) for line in data.splitlines() if line.strip()], True
        except msgspec.DecodeError:
            return
    seen: set[str] = set()
    for at, row in enumerate(rows):
        for place, changed in _changed(row, ""):
            if place not in seen:
                seen.add(place)
                new = [*rows[:at], changed, *rows[at + 1 :]]
                yield place, b"\n".join(msgspec.json.encode(one) for one in new) + (b"\n" if lines else b"")


def _changed(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, child in value.items():
            for where, new in _changed(child, f"{place}/{key}"):
                yield where, {**value, key: new}
    elif isinstance(value, list):
        for at, child in enumerate(value):
            for where, new in _changed(child, f"{place}/*"):
                yield where, [*value[:at], new, *value[at + 1 :]]
    elif isinstance(value, bool):
        yield place, not value
    elif isinstance(value, int | float):
        yield place, value + 1
    elif isinstance(value, str):
        yield place, f"{value}~"


def _one_of_each(names: list[str]) -> list[str]:
    """The first file of each name: in a large tree, files with the same name hold the same kind of data."""
    return list({Path(name).name: name for name in reversed(names)}.values())


def _files(path: Path) -> list[str]:
    if path.is_file():
        return [path.name]
    return sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
