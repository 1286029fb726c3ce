"""The long ones: kills, long fuzz, load. `make soak` runs them all and prints their figures."""
