"""The page in the browser: play, look inside a player, and watch it learn."""
