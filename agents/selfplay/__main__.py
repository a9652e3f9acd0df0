"""Start the program as `python -m selfplay`."""

from selfplay.cli.main import main

main()
