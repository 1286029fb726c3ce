"""Run suites with Inspect AI and import the results: errata has no harness of its own."""
