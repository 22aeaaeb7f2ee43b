"""The verbs of the command line: each parses, asks the service, and prints."""

import gc

# A command makes many objects that stay until its end: garbage is looked for a hundred times less often.
gc.set_threshold(70_000, 20, 20)
