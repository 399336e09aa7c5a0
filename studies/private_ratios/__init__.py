"""Document 000, "Privately bounding local sensitivity": how far the private ratios err, and the privacy that was bought."""
