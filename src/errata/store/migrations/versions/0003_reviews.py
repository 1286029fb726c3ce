"""Reviews: verdicts, refusals, the ledger of calls, and leases."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "verdicts",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("attempt_id", sa.Text(), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("owner", sa.String(16), nullable=False),
        sa.Column("inherited", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
    )
    op.create_index("verdicts_of_run", "verdicts", ["run_id", "attempt_id"])
    op.create_table(
        "refusals",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("attempt_id", sa.Text(), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("packet_hash", sa.Text(), nullable=False),
        sa.Column("reasons", sa.Text(), nullable=False),
        sa.Column("answer", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
    )
    op.create_index("refusals_of_run", "refusals", ["run_id", "attempt_id"])
    op.create_table(
        "calls",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("attempt_id", sa.Text(), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("cache_key", sa.String(64), nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
    )
    op.create_index("calls_by_key", "calls", ["cache_key", "state"])
    op.create_index("calls_of_run", "calls", ["run_id", "state"])
    op.create_table(
        "leases",
        sa.Column("attempt_id", sa.Text(), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("token", sa.String(32), nullable=False),
        sa.Column("until", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("attempt_id", "reviewer"),
    )
