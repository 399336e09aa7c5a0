"""Models of values and functions of Python and NumPy."""
