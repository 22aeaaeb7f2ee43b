"""`python -m lissom`: the same as the command `lissom`."""

from .commands.cli import main

main()
