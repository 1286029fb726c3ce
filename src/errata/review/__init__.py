"""Review: packets out, answers in, and no verdict taken on trust. See docs/decisions/0009-review.md."""
