"""The certificate checker. It imports only the standard library."""
