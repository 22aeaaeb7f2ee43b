"""What a model says about itself: natural vibration."""
