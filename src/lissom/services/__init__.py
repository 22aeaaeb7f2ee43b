"""What can be asked of a robot, one file for each verb: a typed request goes in, a typed result comes out.

Nothing here reads text of a command line and nothing prints: `lissom.commands` does both, and other programs (a studio)
call the same functions.
"""
