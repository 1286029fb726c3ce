"""errata's owners beside those of people who read the raw logs: `make bench-real`."""
