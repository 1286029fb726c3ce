"""Code that several sources share, one idea per module. Code for a single source stays in its package."""
