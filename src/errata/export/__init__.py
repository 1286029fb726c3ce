"""Files in the formats of other tools."""
