"""Styles and modules of the pages, as they are sent."""
