"""Libraries of others: adapters for their objects, and the sweep over all that a library makes. An entry point names the adapters.

``python -m auditor.libraries NAME`` sweeps a library.
"""
