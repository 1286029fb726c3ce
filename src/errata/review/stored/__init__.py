"""What reviews read from the store and write into it: the only part of review that imports `errata.store`."""
