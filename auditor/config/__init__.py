"""From YAML to plans."""

from auditor.config.load import Configuration, load_configuration

__all__ = ["Configuration", "load_configuration"]
