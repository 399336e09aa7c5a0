"""A whole library at once: its public constructors, the objects that can be built of them, and the table of their audits."""
