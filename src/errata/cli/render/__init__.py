"""Parts of pages that several commands print."""
