"""Measurements behind the figures that the documentation states. Nothing here is a test."""
