"""Start the program as `python -m selfplay`."""

from selfplay.commands.main import main

main()
