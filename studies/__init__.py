"""What the documents leave open, computed: a folder for each study, with its numbers, its figures and its report."""
