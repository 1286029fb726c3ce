"""How well failures are grouped into root causes: labelled samples, injected faults, two baselines, and the speed."""
