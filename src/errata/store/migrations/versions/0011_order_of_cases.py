"""Gave cases on PostgreSQL a number in the order of the log, which nothing asks for any more."""

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass
