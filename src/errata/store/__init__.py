"""The store: runs and what is thought of them, in one SQLite file. Nothing outside this package sees SQL."""
