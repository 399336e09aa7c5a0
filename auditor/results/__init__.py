"""Results as data, and report.json: written from them, and read back."""
