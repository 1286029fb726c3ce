"""The tables. One schema for every database; facts are keyed by a run's own number, opinions by stable ids.

A run is imported under a new number in state `importing`, which no query sees, and becomes `current` in one short
transaction at the end. So several processes may import at once, and a killed import leaves nothing visible.

docs/store.md describes every table; comments here are what it leaves out.
"""

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

SCHEMA = 11
"""The newest schema this errata knows; each has its migration of the same number."""

metadata = MetaData()

runs = Table(
    "runs",
    metadata,
    Column("pk", Integer, primary_key=True),
    Column("run_id", String(32), nullable=False),
    Column("state", String(12), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("native_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("suite", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("started_at", Text),
    Column("origin", Text, nullable=False),
    Column("imported_at", Text, nullable=False),
    Column("importer", Text, nullable=False),
    Column("counts", JSON, nullable=False),
    Column("record", LargeBinary, nullable=False),
    Column("triaged", Text),
    Column("bucketed", Text, comment="from which attributions and verdicts its failures were put into buckets"),
    Index("runs_by_id", "run_id", "state"),
    # a number is never given twice, so that an import that was taken for dead can't write into another's rows
    sqlite_autoincrement=True,
)

cases = Table(
    "cases",
    metadata,
    Column("run_pk", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("category", Text, nullable=False),
    Column("record", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_pk", "key"),
)

case_versions = Table(
    "case_versions",
    metadata,
    Column("run_pk", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("record", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_pk", "key", "version"),
)

version_starts = Table(
    "version_starts",
    metadata,
    Column("run_pk", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("version", Text, nullable=False, comment="of `case_versions`; if it has none, the case in `cases`"),
    PrimaryKeyConstraint("run_pk", "key", "seq"),
)

attempts = Table(
    "attempts",
    metadata,
    Column("run_pk", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("case_key", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("session", Integer),
    Column("path", Text, nullable=False),
    Column("position", Integer),
    Column("counted", Boolean, nullable=False),
    Column("failure", Boolean, nullable=False),
    Column("execution", String(12), nullable=False),
    Column("measurement", String(12), nullable=False),
    Column("outcome", String(12), nullable=False),
    Column("tokens", BigInteger),
    Column("cost", Float),
    Column("duration", Float),
    Column("record_block", Integer, nullable=False),
    Column("record_at", Integer, nullable=False),
    Column("steps_block", Integer),
    Column("steps_at", Integer),
    PrimaryKeyConstraint("run_pk", "seq"),
    Index("attempts_by_case", "run_pk", "case_key"),
    sqlite_with_rowid=False,
)

checks = Table(
    "checks",
    metadata,
    Column("run_pk", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("place", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("status", String(16), nullable=False),
    PrimaryKeyConstraint("run_pk", "seq", "place"),
    sqlite_with_rowid=False,
)

blocks = Table(
    "blocks",
    metadata,
    Column("run_pk", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_pk", "number"),
)

blobs = Table(
    "blobs",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("size", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

blob_uses = Table(
    "blob_uses",
    metadata,
    Column("run_pk", Integer, nullable=False),
    Column("digest", String(64), nullable=False),
    PrimaryKeyConstraint("run_pk", "digest"),
)

thinned = Table(
    "thinned",
    metadata,
    Column("run_pk", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("at", Text, nullable=False),
    Column("steps", Integer, nullable=False),
    PrimaryKeyConstraint("run_pk", "seq"),
    sqlite_with_rowid=False,
)

unreadables = Table(
    "unreadables",
    metadata,
    Column("run_pk", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("record", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_pk", "number"),
)

findings = Table(
    "findings",
    metadata,
    Column("run_pk", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("severity", String(12), nullable=False),
    Column("record", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_pk", "number"),
)

attributions = Table(
    "attributions",
    metadata,
    Column("run_pk", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("owner", String(16), nullable=False),
    Column("confidence", String(12), nullable=False),
    Column("decided_by", Text, nullable=False),
    Column("breaks", Boolean, nullable=False, comment="whether a signal shows that the measurement is broken"),
    Column("rules_version", Text, nullable=False),
    Column("record", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_pk", "seq"),
    sqlite_with_rowid=False,
)

summaries = Table(
    "summaries",
    metadata,
    Column("run_pk", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_pk", "kind"),
)

exclusions = Table(
    "exclusions",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("reason", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("at", Text, nullable=False),
)

code_refs = Table(
    "code_refs",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("branch", Text, nullable=False),
    Column("commit", Text, nullable=False),
    Column("at", Text, nullable=False),
)

gates = Table(
    "gates",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("baseline_id", String(32), nullable=False, comment="empty if it had no baseline"),
    Column("verdict", String(16), nullable=False, comment="passed, failed or not_comparable"),
    Column("at", Text, nullable=False),
)

verdicts = Table(
    "verdicts",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("run_id", String(32), nullable=False),
    Column("attempt_id", Text, nullable=False),
    Column("reviewer", Text, nullable=False, comment="kind, name and version in one word"),
    Column("kind", String(12), nullable=False),
    Column("label", Text, nullable=False),
    Column("owner", String(16), nullable=False),
    Column("inherited", Boolean, nullable=False),
    Column("at", Text, nullable=False),
    Column("record", LargeBinary, nullable=False),
    Index("verdicts_of_run", "run_id", "attempt_id"),
)

refusals = Table(
    "refusals",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("run_id", String(32), nullable=False),
    Column("attempt_id", Text, nullable=False),
    Column("reviewer", Text, nullable=False),
    Column("packet_hash", Text, nullable=False),
    Column("reasons", Text, nullable=False),
    Column("answer", LargeBinary, nullable=False),
    Column("at", Text, nullable=False),
    Index("refusals_of_run", "run_id", "attempt_id"),
)

calls = Table(
    "calls",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("run_id", String(32), nullable=False),
    Column("attempt_id", Text, nullable=False),
    Column("reviewer", Text, nullable=False),
    Column("cache_key", String(64), nullable=False),
    Column("state", String(12), nullable=False),
    Column("holder", Text, nullable=False, comment="the process that makes the call: `host:pid:boot`, or its batch"),
    Column("record", LargeBinary, nullable=False),
    Index("calls_by_key", "cache_key", "state"),
    Index("calls_of_run", "run_id", "state"),
)

review_batches = Table(
    "review_batches",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("run_id", String(32), nullable=False),
    Column("reviewer", Text, nullable=False),
    Column("state", String(12), nullable=False, comment="intended, submitted, downloaded, closed or lost"),
    Column("holder", Text, nullable=False, comment="the process that submits it: `host:pid:boot`"),
    Column("record", LargeBinary, nullable=False),
    Index("review_batches_of_run", "run_id", "state"),
)

leases = Table(
    "leases",
    metadata,
    Column("attempt_id", Text, nullable=False),
    Column("reviewer", Text, nullable=False),
    Column("run_id", String(32), nullable=False),
    Column("token", String(32), nullable=False),
    Column("until", Text, nullable=False),
    PrimaryKeyConstraint("attempt_id", "reviewer"),
)

buckets = Table(
    "buckets",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("suite", Text, nullable=False),
    Column("slug", Text, nullable=False),
    Column("status", String(12), nullable=False),
    Column("gone", Boolean, nullable=False),
    Column("record", LargeBinary, nullable=False, comment="without its members and its history"),
    Index("buckets_of_suite", "suite", "slug"),
)

bucket_members = Table(
    "bucket_members",
    metadata,
    Column("run_id", String(32), nullable=False),
    Column("attempt_id", Text, nullable=False),
    Column("bucket", String(32), nullable=False),
    Column("role", String(12), nullable=False, comment="reviewed, inherited or assigned"),
    Column("owner", String(16), nullable=False, comment="this and the next two are what the table of buckets counts"),
    Column("case_key", Text, nullable=False),
    Column("follows", Boolean, nullable=False, comment="it only repeats what another attempt did"),
    Column("author", Text, nullable=False),
    Column("at", Text, nullable=False),
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
    Column("bucket", String(32), nullable=False),
    Column("what", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("undone", Boolean, nullable=False),
    Column("record", LargeBinary, nullable=False),
    Index("events_of_bucket", "bucket", "number"),
)

actions = Table(
    "actions",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("date", Text, nullable=False),
    Column("record", LargeBinary, nullable=False),
)

known_gaps = Table(
    "known_gaps",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("suite", Text, nullable=False),
    Column("case_key", Text, nullable=False),
    Column("record", LargeBinary, nullable=False),
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
"""What belongs to a run's number and goes with it."""


# --- the tables of a server: its tokens, its deployment, and runs that report while they go on


tokens = Table(
    "tokens",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("name", Text, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("last_used_at", Text),
    Column("revoked_at", Text),
)

deployments = Table(
    "deployments",
    metadata,
    Column("name", Text, primary_key=True),
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
    Column("heard_at", Text, nullable=False),
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
