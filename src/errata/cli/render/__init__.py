"""What several commands print in the same way."""
