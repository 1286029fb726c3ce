"""`errata compare`: the command, and the parts of its page."""
