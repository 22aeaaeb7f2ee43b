"""Double precision, which machine code is made for; nothing of these tests needs another package of this repository."""

import jax

jax.config.update("jax_enable_x64", True)
