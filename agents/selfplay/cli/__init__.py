"""The program `selfplay COMMAND` and its small commands."""
