"""The studio: robots, runs and results in the browser, on a server that answers this machine alone.

Nothing is computed here. Every answer is that of a verb (`lissom.verbs`), performed in a process that can be ended.
"""
