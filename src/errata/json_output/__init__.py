"""From what a verb returns to the records of `model/output`: what `--json` prints, and what the MCP server answers."""
