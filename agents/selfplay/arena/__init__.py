"""Players against each other."""
