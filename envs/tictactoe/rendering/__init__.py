"""What a person sees of a position: text, pixels, a window."""
