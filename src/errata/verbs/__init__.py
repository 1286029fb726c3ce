"""One function per command: it gets views, calls the stages in their order, and returns a result."""
