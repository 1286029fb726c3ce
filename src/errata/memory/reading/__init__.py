"""Read the reports that people write about runs: a tree of headings, items, rows and fields."""
