"""The command line: each command reads its options, performs a verb, and prints the answer."""

import gc

# A command makes many objects that stay until its end, 350 000 of them before a run begins: the collector runs after so
# many new ones, and goes through old ones only every 1.6 million.
gc.set_threshold(400_000, 4, 20)
