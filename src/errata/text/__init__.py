"""What may be done to text from a log before it is shown: cleaning and redaction. No records, no I/O."""
