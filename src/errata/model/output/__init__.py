"""The shapes of `--json`: one struct per command, from which the JSON Schema is made."""
