"""How outputs are obtained: mechanisms as black boxes, their outputs in one canonical form, parallel sampling."""
