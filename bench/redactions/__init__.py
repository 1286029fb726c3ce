"""How often redaction takes out what is not a secret, on real logs."""
