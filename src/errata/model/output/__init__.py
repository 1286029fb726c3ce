"""The shapes of `--json`: one record per command."""
