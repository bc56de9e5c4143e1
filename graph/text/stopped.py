"""How runs stopped without asking, and what to do."""

from collections.abc import Mapping
from typing import Literal

How = Literal["died", "failed", "paused"]
STOPPED: Mapping[How, str] = {
    "died": "its process died: resume it, or leave it to a worker",
    "failed": "ended with less than it was to do: look at it, retry or fork it",
    "paused": "paused: resume it",
}
"""What became of a run that stopped without asking, in words, the most urgent first."""
