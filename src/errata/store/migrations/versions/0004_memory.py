"""Memory: buckets, their members and history, actions, known gaps."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("bucketed", sa.Text()))
    op.create_table(
        "buckets",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("suite", sa.Text(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("status", sa.String(12), nullable=False),
        sa.Column("gone", sa.Boolean(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
    )
    op.create_index("buckets_of_suite", "buckets", ["suite", "slug"])
    op.create_table(
        "bucket_members",
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("attempt_id", sa.Text(), nullable=False),
        sa.Column("bucket", sa.String(32), nullable=False),
        sa.Column("role", sa.String(12), nullable=False),
        sa.Column("owner", sa.String(16), nullable=False),
        sa.Column("case_key", sa.Text(), nullable=False),
        sa.Column("follows", sa.Boolean(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "attempt_id"),
    )
    op.create_index("members_of_bucket", "bucket_members", ["bucket", "run_id", "owner", "follows", "role"])
    op.create_index("members_by_case", "bucket_members", ["bucket", "case_key", "run_id"])
    op.create_table(
        "bucket_events",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("bucket", sa.String(32), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("undone", sa.Boolean(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
    )
    op.create_index("events_of_bucket", "bucket_events", ["bucket", "number"])
    op.create_table(
        "actions",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("date", sa.Text(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "known_gaps",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("suite", sa.Text(), nullable=False),
        sa.Column("case_key", sa.Text(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
    )
    op.create_index("gaps_of_suite", "known_gaps", ["suite", "case_key"])
