"""From equations to numbers: equilibrium, time integration."""
