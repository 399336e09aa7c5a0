"""Adapters for third-party objects, and sweeps: audits of every object that a library's constructors make.

``python -m auditor.libraries NAME`` sweeps a library. An entry point names the adapters.
"""
