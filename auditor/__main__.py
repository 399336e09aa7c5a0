"""``python -m auditor``."""

from auditor.cli import command

command()
