"""Links from finite-element programs: readers, couplings, solids meshed here, reduction, and the report."""
