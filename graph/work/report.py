"""What a worker is told and tells: how many runs at a time, and a report of them, one line each."""

from typing import Literal, NamedTuple

CONCURRENCY = 8
"""So many runs a worker continues at a time, if nobody says otherwise."""
What = Literal["taken up", "left", "stopped", "failed", "due", "stopping"]


class Report(NamedTuple):
    """Something that happened to a run, or to the worker itself if `run` is empty.

    `taken up`: it is continued, and `text` says how the terms here differ; `stopped`: the run has ended, waits or is
    paused, as `text` says; `left`: the worker cannot continue it; `failed`: it could not go on, and is tried again
    later; `due`: a chore did something.
    """

    what: What
    run: str = ""
    text: str = ""

    def line(self) -> str:
        """Return the report as a line.

        >>> Report("left", "demo.1", "needs look_up_order: name it with --tools").line()
        'demo.1 left: needs look_up_order: name it with --tools'
        """
        words = {"stopped": self.text, "due": self.text, "stopping": f"stopping{self.text and ': '}{self.text}"}
        what = "could not go on" if self.what == "failed" else self.what  # a run that has failed has ended
        told = words.get(self.what, f"{what}{self.text and ': '}{self.text}")
        return f"{self.run} {told}".strip()
