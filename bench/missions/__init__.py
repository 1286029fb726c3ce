"""The three missions: owners, clusters and error lines on data whose makers did not know the rules."""
