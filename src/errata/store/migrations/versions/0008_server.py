"""The server: tokens, the deployment of a store, and runs that are reported while they go on."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("last_used_at", sa.Text()),
        sa.Column("revoked_at", sa.Text()),
    )
    op.create_table(
        "deployments",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("at", sa.Text(), nullable=False),
    )
    op.create_table(
        "live_runs",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("silence", sa.Float()),
        sa.Column("started_at", sa.Text(), nullable=False),
        sa.Column("heard_at", sa.Text(), nullable=False),
        sa.Column("published", sa.Integer(), nullable=False),
    )
    op.create_index("live_runs_by_state", "live_runs", ["state"])
    op.create_table(
        "live_items",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("attempt_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(32), nullable=False),
        sa.Column("record", sa.LargeBinary()),
        sqlite_autoincrement=True,
    )
    op.create_index("live_items_by_key", "live_items", ["run_id", "key"], unique=True)
    op.create_index("live_items_of_attempt", "live_items", ["run_id", "attempt_id", "number"])
