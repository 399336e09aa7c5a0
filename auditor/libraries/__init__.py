"""Adapters for objects of other libraries, and sweeps: audits of all objects that the constructors of a library make.

``python -m auditor.libraries NAME`` sweeps a library. An entry point names the adapters.
"""
