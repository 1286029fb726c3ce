"""What ProjectScylla calls its files."""

NAME = "scylla"

SUMMARY = "batch_summary.json"
