"""Certificates: writing, checking and retracing them."""
