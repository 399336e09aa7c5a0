"""What is told: results as data, and the ways to show them."""
