"""The digest of a run, compared with those of earlier versions."""

from hashlib import blake2b, sha256

import msgspec
import pytest
from sqlalchemy import update
from store_fixtures import batches

from errata.model import Case, Unreadable
from errata.model.codec import pack
from errata.model.run import without_folder_names
from errata.store.blocks import ContentDigest, decompress
from errata.store.database import open_store
from errata.store.importing import Importing
from errata.store.schema import runs
from errata.store.whole_runs import RunGroup, whole_runs
from errata.testing import a_run, an_attempt

RUN = a_run()
ITEMS = [
    RUN,
    Unreadable(source="generic", where="x:1", why="cut off", run=RUN.id),
    *(
        item
        for number in range(1_500)
        for item in (
            Case(run=RUN.id, suite="suite", native_id=f"c{number}", input=f"what is {number}?"),
            an_attempt(run=RUN.id, case=f"suite/c{number}"),
        )
    ),
]


def test_the_order_of_cases_matters_and_the_order_of_blocks_does_not():
    one, two, three = ContentDigest(), ContentDigest(), ContentDigest()
    for digest, numbers in ((one, (1, 2)), (two, (2, 1)), (three, (1, 2))):
        digest.add_cases([b"a", b"b"] if digest is not three else [b"b", b"a"])
        for number in numbers:
            digest.add_block(number, f"block {number}".encode())

    assert one.hexdigest() == two.hexdigest() != three.hexdigest()


def older_digest(items) -> str:
    """As errata computed it before its digests covered blocks in any order."""
    content, unread = sha256(), []
    for batch in batches(*items):
        unread += batch.unreadables
        for part in batch.parts.values():
            for case in part.cases:
                content.update(case[-1])
            for _, data in part.blocks:
                content.update(decompress(data))
    bare = msgspec.structs.replace(RUN, origin="")
    whole = blake2b(pack(without_folder_names(bare)), digest_size=16)
    whole.update(content.hexdigest().encode())
    whole.update(str(len(unread)).encode())
    for _, item in unread:
        whole.update(pack(item))
    return whole.hexdigest()


def staged(store, items):
    with Importing(store) as importing:
        for batch in batches(*items):
            importing.add(batch)
        return importing.finish()[0]


def at_once(store, items):
    whole = whole_runs(batches(*items))
    with RunGroup(store) as group:
        group.add(whole)
    return whole[0].pending.result


@pytest.mark.parametrize("write", [staged, at_once])
def test_a_run_with_the_digest_of_an_earlier_version_is_unchanged(tmp_path, write):
    store = open_store(tmp_path / "errata.db")
    write(store, ITEMS)
    with store.writing() as connection:
        connection.execute(update(runs).values(digest=older_digest(ITEMS)))

    again, less = write(store, ITEMS), write(store, [*ITEMS, an_attempt(run=RUN.id, case="suite/more")])

    assert (again.change, again.revision) == ("unchanged", 1)
    assert (less.change, less.revision) == ("grown", 2)
