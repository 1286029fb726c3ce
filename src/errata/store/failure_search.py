"""Search the failures of a run by a text in their attributions, by case or by bucket; only matches are read."""

from collections.abc import Collection, Iterator, Sequence

from sqlalchemy import Select, or_, select

from errata.model import Attribution
from errata.model.codec import unpack
from errata.store import engine
from errata.store.attempts import FETCH
from errata.store.database import Store
from errata.store.elsewhere import chunks
from errata.store.schema import attempts, attributions, bucket_members


def attributions_with(store: Store, pk: int, texts: Sequence[str]) -> Iterator[Attribution]:
    """Those that hold one of the texts anywhere: in the key, in a quote, or in an id, so the caller looks again."""
    holding = [engine.holds(attributions.c.record, text.encode("utf-8", "replace")) for text in texts if text]
    if holding:
        yield from _read(store, select(attributions.c.record).where(attributions.c.run_pk == pk, or_(*holding)))


def attributions_of_case(store: Store, pk: int, case: str) -> Iterator[Attribution]:
    same = (attributions.c.run_pk == attempts.c.run_pk) & (attributions.c.seq == attempts.c.seq)
    query = select(attributions.c.record).select_from(attempts.join(attributions, same))
    return _read(store, query.where(attempts.c.run_pk == pk, attempts.c.case_key == case, attempts.c.failure))


def _read(store: Store, query: Select[tuple[bytes]]) -> Iterator[Attribution]:
    with store.reading() as connection:
        for row in connection.execute(query.order_by(attributions.c.seq).execution_options(yield_per=FETCH)):
            yield unpack(row.record, Attribution)


def members_in(store: Store, run_id: str, bucket_ids: Collection[str]) -> Iterator[tuple[str, str]]:
    """Attempt and bucket of the failures of a run in these buckets; without knock-on failures."""
    columns = bucket_members.c
    query = select(columns.attempt_id, columns.bucket).where(columns.run_id == run_id, columns.follows.is_(False))
    with store.reading() as connection:
        for some in chunks(sorted(bucket_ids)):
            for row in connection.execute(query.where(columns.bucket.in_(some)).order_by(columns.attempt_id)):
                yield row.attempt_id, row.bucket
