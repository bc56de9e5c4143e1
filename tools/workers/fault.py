"""A failure of the requested work, as passed from a child process to its parent."""


class Fault(Exception):
    """The work cannot be done; `reason` is what is wrong, and the next move."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)
