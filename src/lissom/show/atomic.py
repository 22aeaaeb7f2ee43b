"""Files that appear whole or not at all: the home is `lissom.atomic`, open to every folder."""

from ..atomic import write_atomically as write_atomically
