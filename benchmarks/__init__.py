"""The measurements behind the figures in the documentation. Nothing here is a test."""
