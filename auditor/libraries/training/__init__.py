"""Adapters for frameworks of private training and of federated learning.

Records are gradients, examples, or updates of clients, longer than the clipping norm. The object's own parameters give the claim,
as an exact process. Each call works on a copy of the object, with global generators seeded.
"""
