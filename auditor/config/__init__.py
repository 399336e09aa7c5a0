"""From YAML to plans."""
