"""What is wrong with the work that was asked for, as it crosses from a child process to its parent."""


class Fault(Exception):
    """The work cannot be done; `reason` says why and what to do, in words for whoever planned it."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)
