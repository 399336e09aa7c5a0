"""What is shown of results: sentences, tables, pages, plots and comparisons."""
