"""Gates: the branch and commit of a run, and how its last gate ended."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "code_refs",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("branch", sa.Text(), nullable=False),
        sa.Column("commit", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
    )
    op.create_table(
        "gates",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("baseline_id", sa.String(32), nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
    )
