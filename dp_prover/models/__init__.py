"""Models of Python's and NumPy's values and functions."""
