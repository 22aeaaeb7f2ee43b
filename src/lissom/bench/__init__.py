"""Times and numbers that lissom is held to: run by `lissom bench`, imported by nothing else in the package."""
