"""Alembic's entry: it is always given the connection of an open store."""

from alembic import context

from errata.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=False)
context.run_migrations()
