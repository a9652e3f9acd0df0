"""What a person starts: `selfplay COMMAND`."""
