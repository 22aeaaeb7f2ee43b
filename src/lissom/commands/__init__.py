"""The verbs of the command line: each parses, asks the service, and prints."""
