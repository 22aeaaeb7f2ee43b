"""Runs, their files and their pictures: physics never imports this."""
