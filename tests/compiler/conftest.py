"""Double precision, which machine code is made for; nothing of these tests needs another package of this repository."""

import jax

jax.config.update("jax_enable_x64", True)


def pytest_configure(config):
    """`make test-jax` runs these tests without the settings of the project."""
    config.addinivalue_line("markers", "slow: takes more than half a minute")
