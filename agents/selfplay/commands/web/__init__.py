"""A page in the browser: play, look inside, see what is wrong, follow a run."""
