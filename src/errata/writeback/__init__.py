"""Findings in the harness's own form: score edits, invalidations, comments. Changes no log."""
