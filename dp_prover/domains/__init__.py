"""Domains and data sets as plain data, as rules and certificates use them."""
