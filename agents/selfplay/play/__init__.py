"""A game against a person."""
