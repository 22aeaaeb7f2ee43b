"""Control laws: pure functions (t, state) -> joint torques."""
