"""Lower bounds from counts, which hold with a stated probability."""
