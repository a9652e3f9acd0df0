"""A page in the browser to play on, to look inside a player, and to watch it learn."""
