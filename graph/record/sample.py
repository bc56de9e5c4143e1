"""Samples of what steps took: seconds, and tokens by model.

Two calls are alike if they are of one tool; two steps of a model, if it is the same model with the same tools.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

KEPT = 40
"""So many samples are kept of what is alike: the latest."""
Tokens = tuple[int, int]
"""Tokens of prompts, and of answers."""


@dataclass(frozen=True)
class Sample:
    """What one call or step took; it ended at `at` (Unix seconds). `tokens` are by model."""

    at: float
    seconds: float
    tokens: Mapping[str, Tokens] = field(default_factory=dict)

    def to_json(self) -> list[Any]:
        """Return the sample as a ledger keeps it; its time comes first."""
        tokens = {model: list(counts) for model, counts in self.tokens.items()}
        return [round(self.at, 3), round(self.seconds, 3), tokens]

    @classmethod
    def from_json(cls, raw: Sequence[Any]) -> "Sample":
        """Return the sample in the output of `to_json`."""
        at, seconds, tokens = raw
        return cls(at, seconds, {model: (read, written) for model, (read, written) in tokens.items()})


Samples = Mapping[str, Sequence[Sample]]
"""Likeness -> samples."""


def of_tool(tool: str) -> str:
    """Return the likeness of a tool's calls."""
    return f"tool {tool}"


def of_model(model: str, tools: Iterable[str]) -> str:
    """Return the likeness of a model's steps with these tools.

    >>> of_model("gpt-5-mini", ["search", "fetch"])
    'model gpt-5-mini: fetch, search'
    """
    return f"model {model}: {', '.join(sorted(tools))}"


def latest(samples: Iterable[Sample]) -> list[Sample]:
    """Return the samples that are kept, the latest first."""
    return sorted(samples, key=lambda sample: sample.at, reverse=True)[:KEPT]
