"""One script for each published figure; each says in its docstring which figures it makes."""
