"""The tables of a server: its tokens, its deployment, and runs that report while they go on."""

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, String, Table, Text

from errata.store.schema import metadata

tokens = Table(
    "tokens",
    metadata,
    Column("id", String(16), primary_key=True, comment="the public part of the token"),
    Column("name", Text, nullable=False),
    Column("hash", String(64), nullable=False, comment="SHA-256 of the token; the token itself is stored nowhere"),
    Column("scopes", Text, nullable=False, comment="separated by blanks"),
    Column("created_at", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("last_used_at", Text),
    Column("revoked_at", Text),
)

deployments = Table(
    "deployments",
    metadata,
    Column("name", Text, primary_key=True, comment="the deployment that this store belongs to: one row at most"),
    Column("at", Text, nullable=False),
)

live_runs = Table(
    "live_runs",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("key", Text, nullable=False, comment="the runner's own id of the run"),
    Column("token", Text, nullable=False, comment="the name of the token that started it"),
    Column("state", String(12), nullable=False, comment="running, stuck or finished"),
    Column("silence", Float, comment="seconds without a report until it is stuck; the server's own if absent"),
    Column("started_at", Text, nullable=False),
    Column("heard_at", Text, nullable=False, comment="of the last report"),
    Column("published", Integer, nullable=False, comment="number of the last report that the run in `runs` contains"),
    Index("live_runs_by_state", "state"),
)

live_items = Table(
    "live_items",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("run_id", String(32), nullable=False),
    Column("attempt_id", Text, nullable=False, comment="empty where it is about the run"),
    Column("kind", String(12), nullable=False),
    Column("key", Text, nullable=False, comment="the runner's id of this report; a repeated one changes nothing"),
    Column("digest", String(32), nullable=False),
    Column("record", LargeBinary, comment="the report as JSON, zstd; removed once the run is finished and published"),
    Index("live_items_by_key", "run_id", "key", unique=True),
    Index("live_items_of_attempt", "run_id", "attempt_id", "number"),
    sqlite_autoincrement=True,
)
