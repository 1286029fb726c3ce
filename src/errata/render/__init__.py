"""Documents: blocks, and how they look as markdown and HTML. No facts of its own."""
