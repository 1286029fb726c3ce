"""The facts of every report, as `errata report --json` prints them."""
