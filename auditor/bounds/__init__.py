"""From counts to lower bounds that hold with a stated probability."""
