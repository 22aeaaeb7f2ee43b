"""One link alone: its matrices, its stations of inertia, its constants."""
