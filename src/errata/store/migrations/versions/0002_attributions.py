"""Attributions: whom triage names for each failure."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("triaged", sa.Text()))
    op.create_table(
        "attributions",
        sa.Column("run_pk", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(16), nullable=False),
        sa.Column("confidence", sa.String(12), nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=False),
        sa.Column("breaks", sa.Boolean(), nullable=False),
        sa.Column("rules_version", sa.Text(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run_pk", "seq"),
        sqlite_with_rowid=False,
    )
