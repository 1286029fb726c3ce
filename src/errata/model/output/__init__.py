"""The shapes of what commands print with `--json`: numbers, ids, enums, and texts of logs and verdicts."""
