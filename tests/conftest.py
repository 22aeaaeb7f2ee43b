"""Double precision, as in a simulation."""

import lissom  # noqa: F401  (switches JAX to double precision)
