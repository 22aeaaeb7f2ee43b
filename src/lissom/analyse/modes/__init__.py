"""Natural vibration: frequencies, damping, shapes, who takes part, and maps over poses."""
