"""Whether misleading quotes are refused and honest ones accepted."""
