"""Reports that people keep: what is known about runs, laid out as a document, written as markdown or HTML."""
