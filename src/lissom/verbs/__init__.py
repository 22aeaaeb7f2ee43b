"""Verbs: one row for each public function that the command line, the studio and the reference page offer."""
