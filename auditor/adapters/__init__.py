"""Objects of libraries as mechanisms: what an object says of itself becomes its mechanism, claim and neighbours."""
