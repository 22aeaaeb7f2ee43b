"""Thousands of runs over chosen keys of a robot, a scenario and its controller: described, computed, stored, drawn."""
