"""What is collected here: tests of gmsh where it can be loaded. It has no wheels for every machine."""

try:
    import gmsh  # noqa: F401
except (ImportError, OSError):
    collect_ignore = ["test_gmsh_scripts.py"]
