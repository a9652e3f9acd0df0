"""Games of players against each other."""
