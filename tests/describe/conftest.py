"""Double precision and no silent broadcasting, as in a simulation."""

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
