"""How well triage finds who has to act: labelled samples, faults injected into genuine logs, decoys, and its speed."""
