"""Commands as a shell runs them, and a robot that is quick to simulate."""

import os
import subprocess
import sys

LISSOM = f"{sys.executable} -m lissom.commands.cli"
REED = """
lissom: 1
name: reed
gravity: [0, -9.81, 0]
links:
  - name: rod
    joint: {type: revolute, dh: {a: 0.6, alpha: 0, d: 0, theta: 0}}
    beam: {section: {shape: rectangle, y: 0.004, z: 0.03}, material: steel, elements: 1}
"""


def shell(command, timeout=120, **environment):
    """Exit code, stdout and stderr of a line of the shell."""
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, **environment},
        timeout=timeout,
    )
    return done.returncode, done.stdout, done.stderr
