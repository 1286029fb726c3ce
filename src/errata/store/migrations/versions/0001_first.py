"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("pk", sa.Integer(), primary_key=True),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("native_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("suite", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Text()),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("imported_at", sa.Text(), nullable=False),
        sa.Column("importer", sa.Text(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("runs_by_id", "runs", ["run_id", "state"])
    op.create_table(
        "cases",
        sa.Column("run_pk", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run_pk", "key"),
    )
    op.create_table(
        "attempts",
        sa.Column("run_pk", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("case_key", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("session", sa.Integer()),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer()),
        sa.Column("counted", sa.Boolean(), nullable=False),
        sa.Column("failure", sa.Boolean(), nullable=False),
        sa.Column("execution", sa.String(12), nullable=False),
        sa.Column("measurement", sa.String(12), nullable=False),
        sa.Column("outcome", sa.String(12), nullable=False),
        sa.Column("tokens", sa.BigInteger()),
        sa.Column("cost", sa.Float()),
        sa.Column("duration", sa.Float()),
        sa.Column("record_block", sa.Integer(), nullable=False),
        sa.Column("record_at", sa.Integer(), nullable=False),
        sa.Column("steps_block", sa.Integer()),
        sa.Column("steps_at", sa.Integer()),
        sa.PrimaryKeyConstraint("run_pk", "seq"),
        sqlite_with_rowid=False,
    )
    op.create_index("attempts_by_case", "attempts", ["run_pk", "case_key"])
    op.create_table(
        "checks",
        sa.Column("run_pk", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("run_pk", "seq", "place"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "blocks",
        sa.Column("run_pk", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run_pk", "number"),
    )
    op.create_table(
        "blobs",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "blob_uses",
        sa.Column("run_pk", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("run_pk", "digest"),
    )
    op.create_table(
        "unreadables",
        sa.Column("run_pk", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run_pk", "number"),
    )
    op.create_table(
        "findings",
        sa.Column("run_pk", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("severity", sa.String(12), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run_pk", "number"),
    )
    op.create_table(
        "exclusions",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
    )
