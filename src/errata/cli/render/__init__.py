"""Rendering that several commands share."""
