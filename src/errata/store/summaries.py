"""What was made from the facts of a run and what was thought of them, kept until one of the two changes."""

from sqlalchemy import delete, insert, select

from errata.store.database import Store
from errata.store.schema import summaries
from errata.store.zstd import ZstdError, compress, decompress


def kept_summary(store: Store, pk: int, kind: str, version: str) -> bytes | None:
    """None where there is none, where it was made from something else, or where it is damaged: it is made anew."""
    query = select(summaries.c.data).where(summaries.c.run_pk == pk, summaries.c.kind == kind)
    with store.reading() as connection:
        row = connection.execute(query.where(summaries.c.version == version)).first()
    try:
        return None if row is None else decompress(row.data)
    except ZstdError:
        return None


def keep_summary(store: Store, pk: int, kind: str, version: str, data: bytes) -> None:
    """In the place of an older one."""
    with store.writing() as connection:
        connection.execute(delete(summaries).where(summaries.c.run_pk == pk, summaries.c.kind == kind))
        connection.execute(insert(summaries).values(run_pk=pk, kind=kind, version=version, data=compress(data)))
