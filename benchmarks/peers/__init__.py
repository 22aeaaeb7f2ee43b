"""lissom beside Exudyn and Pinocchio, in one process."""
