"""`make bench-review`: many reviews at once, against the time that the provider alone would take."""
