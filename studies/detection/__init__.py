"""How good the auditor is: its bounds against exact values, and the outputs it needs to detect noise that is too small."""
