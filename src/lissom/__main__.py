"""`python -m lissom`: the same as the command `lissom`."""

import sys

from lissom_command import main

sys.exit(main())
