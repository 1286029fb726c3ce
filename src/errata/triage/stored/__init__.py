"""What triage reads from the store and writes into it: the only part of triage that imports `errata.store`."""
