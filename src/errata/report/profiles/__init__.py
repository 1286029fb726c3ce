"""From facts to documents: what is said in which order, one module for each profile."""
