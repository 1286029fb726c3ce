"""What the steps of one attempt show, without a store: calls, writes, claims, and the evidence log."""
