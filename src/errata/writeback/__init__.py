"""What was found, in the form that a harness keeps itself: score edits, invalidations, comments. Changes no log."""
