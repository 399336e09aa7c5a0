"""The forms in which results are shown: sentences, tables, pages, plots and comparisons."""
