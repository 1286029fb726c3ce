"""Transcripts that were thinned to what verdicts and evidence cite."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "thinned",
        sa.Column("run_pk", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("run_pk", "seq"),
        sqlite_with_rowid=False,
    )
