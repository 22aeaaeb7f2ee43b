"""Natural vibration: frequencies, damping, shapes, participation, and maps over poses."""
