"""The field: what packages that say differential privacy do, each as it is installed: ``make field``."""
