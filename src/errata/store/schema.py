"""The tables. One schema for every database; facts are keyed by a run's own number, opinions by stable ids.

A run is imported under a new number in state `importing`, which no query sees, and becomes `current` in one short
transaction at the end. So several processes may import at once, and a killed import leaves nothing visible.

docs/store.md describes every table; comments here are what it leaves out.
"""

from functools import partial

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
)

SCHEMA = 12
"""The newest schema this errata knows; each has its migration of the same number."""

metadata = MetaData()
Filled = partial(Column, nullable=False)

runs = Table(
    "runs",
    metadata,
    Column("pk", Integer, primary_key=True),
    Filled("run_id", String(32)),
    Filled("state", String(12)),
    Filled("revision", Integer),
    Filled("digest", String(64)),
    Filled("native_id", Text),
    Filled("name", Text),
    Filled("source", Text),
    Filled("suite", Text),
    Filled("model", Text),
    Column("started_at", Text),
    Filled("origin", Text),
    Filled("imported_at", Text),
    Filled("importer", Text),
    Filled("counts", JSON),
    Filled("record", LargeBinary),
    Column("triaged", Text),
    Column("bucketed", Text, comment="from which attributions and verdicts its failures were put into buckets"),
    Index("runs_by_id", "run_id", "state"),
    # a number is never given twice, so that an import that was taken for dead can't write into another's rows
    sqlite_autoincrement=True,
)

cases = Table(
    "cases",
    metadata,
    Filled("run_pk", Integer),
    Filled("key", Text),
    Filled("digest", String(64)),
    Filled("category", Text),
    Filled("record", LargeBinary),
    PrimaryKeyConstraint("run_pk", "key"),
)

case_versions = Table(
    "case_versions",
    metadata,
    Filled("run_pk", Integer),
    Filled("key", Text),
    Filled("version", Text),
    Filled("record", LargeBinary),
    PrimaryKeyConstraint("run_pk", "key", "version"),
)

version_starts = Table(
    "version_starts",
    metadata,
    Filled("run_pk", Integer),
    Filled("key", Text),
    Filled("seq", Integer),
    Filled("version", Text, comment="of `case_versions`; if it has none, the case in `cases`"),
    PrimaryKeyConstraint("run_pk", "key", "seq"),
)

attempts = Table(
    "attempts",
    metadata,
    Filled("run_pk", Integer),
    Filled("seq", Integer),
    Filled("case_key", Text),
    Filled("number", Integer),
    Column("session", Integer),
    Filled("path", Text),
    Column("position", Integer),
    Filled("counted", Boolean),
    Filled("failure", Boolean),
    Filled("execution", String(12)),
    Filled("measurement", String(12)),
    Filled("outcome", String(12)),
    Column("tokens", BigInteger),
    Column("cost", Float),
    Column("duration", Float),
    Filled("record_block", Integer),
    Filled("record_at", Integer),
    Column("steps_block", Integer),
    Column("steps_at", Integer),
    Column("value", Float),
    PrimaryKeyConstraint("run_pk", "seq"),
    Index("attempts_by_case", "run_pk", "case_key"),
    sqlite_with_rowid=False,
)

checks = Table(
    "checks",
    metadata,
    Filled("run_pk", Integer),
    Filled("seq", Integer),
    Filled("place", Integer),
    Filled("name", Text),
    Filled("status", String(16)),
    PrimaryKeyConstraint("run_pk", "seq", "place"),
    sqlite_with_rowid=False,
)

blocks = Table(
    "blocks",
    metadata,
    Filled("run_pk", Integer),
    Filled("number", Integer),
    Filled("data", LargeBinary),
    PrimaryKeyConstraint("run_pk", "number"),
)

blobs = Table(
    "blobs",
    metadata,
    Column("digest", String(64), primary_key=True),
    Filled("size", Integer),
    Filled("data", LargeBinary),
)

blob_uses = Table(
    "blob_uses",
    metadata,
    Filled("run_pk", Integer),
    Filled("digest", String(64)),
    PrimaryKeyConstraint("run_pk", "digest"),
)

thinned = Table(
    "thinned",
    metadata,
    Filled("run_pk", Integer),
    Filled("seq", Integer),
    Filled("at", Text),
    Filled("steps", Integer),
    PrimaryKeyConstraint("run_pk", "seq"),
    sqlite_with_rowid=False,
)

unreadables = Table(
    "unreadables",
    metadata,
    Filled("run_pk", Integer),
    Filled("number", Integer),
    Filled("record", LargeBinary),
    PrimaryKeyConstraint("run_pk", "number"),
)

findings = Table(
    "findings",
    metadata,
    Filled("run_pk", Integer),
    Filled("number", Integer),
    Filled("name", Text),
    Filled("severity", String(12)),
    Filled("record", LargeBinary),
    PrimaryKeyConstraint("run_pk", "number"),
)

attributions = Table(
    "attributions",
    metadata,
    Filled("run_pk", Integer),
    Filled("seq", Integer),
    Filled("owner", String(16)),
    Filled("confidence", String(12)),
    Filled("decided_by", Text),
    Filled("breaks", Boolean, comment="whether a signal shows that the measurement is broken"),
    Filled("rules_version", Text),
    Filled("record", LargeBinary),
    PrimaryKeyConstraint("run_pk", "seq"),
    sqlite_with_rowid=False,
)

summaries = Table(
    "summaries",
    metadata,
    Filled("run_pk", Integer),
    Filled("kind", Text),
    Filled("version", Text),
    Filled("data", LargeBinary),
    PrimaryKeyConstraint("run_pk", "kind"),
)

exclusions = Table(
    "exclusions",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Filled("reason", Text),
    Filled("author", Text),
    Filled("at", Text),
)

code_refs = Table(
    "code_refs",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Filled("branch", Text),
    Filled("commit", Text),
    Filled("at", Text),
)

gates = Table(
    "gates",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Filled("baseline_id", String(32), comment="empty if it had no baseline"),
    Filled("verdict", String(16), comment="passed, failed or not_comparable"),
    Filled("at", Text),
)

verdicts = Table(
    "verdicts",
    metadata,
    Column("id", String(32), primary_key=True),
    Filled("run_id", String(32)),
    Filled("attempt_id", Text),
    Filled("reviewer", Text, comment="kind, name and version in one word"),
    Filled("kind", String(12)),
    Filled("label", Text),
    Filled("owner", String(16)),
    Filled("inherited", Boolean),
    Filled("at", Text),
    Filled("record", LargeBinary),
    Index("verdicts_of_run", "run_id", "attempt_id"),
)

refusals = Table(
    "refusals",
    metadata,
    Column("number", Integer, primary_key=True),
    Filled("run_id", String(32)),
    Filled("attempt_id", Text),
    Filled("reviewer", Text),
    Filled("packet_hash", Text),
    Filled("reasons", Text),
    Filled("answer", LargeBinary),
    Filled("at", Text),
    Index("refusals_of_run", "run_id", "attempt_id"),
)

calls = Table(
    "calls",
    metadata,
    Column("id", String(32), primary_key=True),
    Filled("run_id", String(32)),
    Filled("attempt_id", Text),
    Filled("reviewer", Text),
    Filled("cache_key", String(64)),
    Filled("state", String(12)),
    Filled("holder", Text, comment="the process that makes the call: `host:pid:boot`, or its batch"),
    Filled("record", LargeBinary),
    Index("calls_by_key", "cache_key", "state"),
    Index("calls_of_run", "run_id", "state"),
)

review_batches = Table(
    "review_batches",
    metadata,
    Column("id", String(32), primary_key=True),
    Filled("run_id", String(32)),
    Filled("reviewer", Text),
    Filled("state", String(12), comment="intended, submitted, downloaded, closed or lost"),
    Filled("holder", Text, comment="the process that submits it: `host:pid:boot`"),
    Filled("record", LargeBinary),
    Index("review_batches_of_run", "run_id", "state"),
)

leases = Table(
    "leases",
    metadata,
    Filled("attempt_id", Text),
    Filled("reviewer", Text),
    Filled("run_id", String(32)),
    Filled("token", String(32)),
    Filled("until", Text),
    PrimaryKeyConstraint("attempt_id", "reviewer"),
)

buckets = Table(
    "buckets",
    metadata,
    Column("id", String(32), primary_key=True),
    Filled("suite", Text),
    Filled("slug", Text),
    Filled("status", String(12)),
    Filled("gone", Boolean),
    Filled("record", LargeBinary, comment="without its members and its history"),
    Index("buckets_of_suite", "suite", "slug"),
)

bucket_members = Table(
    "bucket_members",
    metadata,
    Filled("run_id", String(32)),
    Filled("attempt_id", Text),
    Filled("bucket", String(32)),
    Filled("role", String(12), comment="reviewed, inherited or assigned"),
    Filled("owner", String(16), comment="this and the next two are what the table of buckets counts"),
    Filled("case_key", Text),
    Filled("follows", Boolean, comment="it only repeats what another attempt did"),
    Filled("author", Text),
    Filled("at", Text),
    # a failure has one root cause; who doubts that moves it
    PrimaryKeyConstraint("run_id", "attempt_id"),
    # both hold all that the table of buckets counts, so that it is counted without a look at the rows
    Index("members_of_bucket", "bucket", "run_id", "owner", "follows", "role"),
    Index("members_by_case", "bucket", "case_key", "run_id"),
)

bucket_events = Table(
    "bucket_events",
    metadata,
    Column("number", Integer, primary_key=True),
    Filled("bucket", String(32)),
    Filled("what", Text),
    Filled("author", Text),
    Filled("at", Text),
    Filled("undone", Boolean),
    Filled("record", LargeBinary),
    Index("events_of_bucket", "bucket", "number"),
)

actions = Table(
    "actions",
    metadata,
    Column("id", String(32), primary_key=True),
    Filled("date", Text),
    Filled("record", LargeBinary),
)

known_gaps = Table(
    "known_gaps",
    metadata,
    Column("id", String(32), primary_key=True),
    Filled("suite", Text),
    Filled("case_key", Text),
    Filled("record", LargeBinary),
    Index("gaps_of_suite", "suite", "case_key"),
)

REVIEWS = (
    verdicts,
    refusals,
    calls,
    review_batches,
    leases,
    bucket_members,
    code_refs,
    gates,
)
"""What was thought of a run; it is keyed by the run's id and goes only when the run is forgotten."""

FACTS = (
    cases,
    case_versions,
    version_starts,
    attempts,
    checks,
    blocks,
    blob_uses,
    thinned,
    unreadables,
    findings,
    attributions,
    summaries,
)


# --- the tables of a server: its tokens, its deployment, and runs that report while they go on


tokens = Table(
    "tokens",
    metadata,
    Column("id", String(16), primary_key=True),
    Filled("name", Text),
    Filled("hash", String(64)),
    Filled("scopes", Text),
    Filled("created_at", Text),
    Filled("created_by", Text),
    Column("last_used_at", Text),
    Column("revoked_at", Text),
)

deployments = Table(
    "deployments",
    metadata,
    Column("name", Text, primary_key=True),
    Filled("at", Text),
)

live_runs = Table(
    "live_runs",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Filled("key", Text, comment="the runner's own id of the run"),
    Filled("token", Text, comment="the name of the token that started it"),
    Filled("state", String(12), comment="running, stuck or finished"),
    Column("silence", Float, comment="seconds without a report until it is stuck; the server's own if absent"),
    Filled("started_at", Text),
    Filled("heard_at", Text),
    Filled("published", Integer, comment="number of the last report that the run in `runs` contains"),
    Index("live_runs_by_state", "state"),
)

live_items = Table(
    "live_items",
    metadata,
    Column("number", Integer, primary_key=True),
    Filled("run_id", String(32)),
    Filled("attempt_id", Text, comment="empty where it is about the run"),
    Filled("kind", String(12)),
    Filled("key", Text, comment="the runner's id of this report; a repeated one changes nothing"),
    Filled("digest", String(32)),
    Column("record", LargeBinary, comment="the report as JSON, zstd; removed once the run is finished and published"),
    Index("live_items_by_key", "run_id", "key", unique=True),
    Index("live_items_of_attempt", "run_id", "attempt_id", "number"),
    sqlite_autoincrement=True,
)
