"""The checker of certificates. It imports the standard library alone."""
