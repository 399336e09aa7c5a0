"""How good is the auditor: its bounds against the truth, and the outputs it needs to see that noise is too small."""
