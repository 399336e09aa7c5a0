"""Results as data, and report.json, which is written from results and read back."""
