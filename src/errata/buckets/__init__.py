"""Root causes: failures grouped, named, and followed through their life."""
