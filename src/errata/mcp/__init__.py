"""The MCP server: what the commands know, as tools, resources and prompts for an agent. Needs the extra `mcp`."""
