"""Issues ready to file: their texts, and the script that files them. Nothing here files anything."""
