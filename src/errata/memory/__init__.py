"""What was known before: earlier reports, known gaps, actions and what became of them."""
