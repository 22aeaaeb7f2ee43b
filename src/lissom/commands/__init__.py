"""The verbs of the command line: each parses, asks the service, and prints."""

import gc

# A command makes many objects that stay until its end, 350 000 of them before a run begins: garbage is looked for
# once so many are new. What stayed once is looked through again as rarely as every 1.6 million.
gc.set_threshold(400_000, 4, 20)
