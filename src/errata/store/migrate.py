"""The schema of a store: migrations, run by Alembic from the program, and the guard against a newer errata."""

from pathlib import Path

from sqlalchemy import Connection, Engine, event

from errata.errors import StoreError
from errata.model.store_address import StoreLocation
from errata.store.schema import SCHEMA


def upgrade(connection: Connection, to: str = "head") -> None:
    """Run the migrations that the store lacks, inside the caller's transaction."""
    from alembic import command  # noqa: PLC0415 it takes longer to import than a command to start
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, to)


# --- a newer errata may migrate a store that this process has open: from then on, this process does not write to it


VERSION_TABLE = "alembic_version"


def newer_schema(place: StoreLocation | str, version: int) -> StoreError:
    return StoreError(
        f"The store `{place}` was written by a newer errata: schema {version}, this one knows {SCHEMA}",
        hint="upgrade errata in its clone, or work in another store with `--store FILE`;\nnothing was read or changed",
    )


def refuse_newer_schema(engine: Engine, place: StoreLocation | str) -> None:
    """From now on every transaction that writes looks at the schema first; it holds the lock of a migration."""

    def check(connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get("isolation_level") or not options.get("errata_write"):
            return
        cursor = connection.connection.cursor()  # a third of the time that a statement of SQLAlchemy takes
        cursor.execute(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608
        row = cursor.fetchone()
        version = str(row[0]) if row else ""
        if version.isdecimal() and int(version) > SCHEMA:
            cursor.execute("ROLLBACK")
            raise newer_schema(place, int(version))

    event.listen(engine, "begin", check)
