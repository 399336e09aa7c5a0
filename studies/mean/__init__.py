"""Document 001, "Local Sensitivity": the errors of five mechanisms for a mean, and the privacy that they provide."""
