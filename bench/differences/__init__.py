"""Models that deviate in a category: how many planted deviations are found, and how many that are none."""
