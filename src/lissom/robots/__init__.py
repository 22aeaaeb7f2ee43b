"""Ready robots, their scenarios, and materials, as YAML files that cite their sources."""
