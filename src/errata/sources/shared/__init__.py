"""What several sources do alike, one idea a module; what a single source does stays with it."""
