"""Review batches: calls that a provider answers together within hours."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "review_batches",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
    )
    op.create_index("review_batches_of_run", "review_batches", ["run_id", "state"])
