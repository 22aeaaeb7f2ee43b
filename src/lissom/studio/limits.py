"""How much and how long anything that comes from a browser may take."""

from dataclasses import dataclass


@dataclass(frozen=True)
class StudioLimits:
    """Sizes in bytes, times in seconds."""

    body: int = 4_500_000  # of one request: a description of 4 MB with its quotes
    upload: int = 64_000_000  # of a file that is dropped
    download: int = 512_000_000
    message: int = 100_000  # through a web socket
    receive_s: float = 30.0  # between two pieces of a request
    call_s: float = 60.0  # of a call of a worker
    run_s: float = 3600.0
    jobs: int = 100  # waiting or under way
    history: int = 200  # finished jobs in the list
