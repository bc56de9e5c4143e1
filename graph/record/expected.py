"""What a plan may take by what like steps took, as it was known when the plan was written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from planner_executor.graph.record.codec import As, Coded
from planner_executor.graph.record.sample import Sample, Samples


def _range(raw: Any) -> tuple[float, float]:
    least, most = raw
    return float(least), float(most)


Range = Annotated[tuple[float, float], As(list, _range)]
"""The least and the most; single samples far from the others are left out."""
LEFT_OUT = 0.1
"""The share of samples that is left out at each end."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Took(Coded):
    """What like steps took, as ranges: `count` of them, their seconds, and their tokens by model.

    `tokens` are (least and most of prompts, least and most of answers).
    """

    count: int
    seconds: Range
    tokens: Mapping[str, tuple[Range, Range]] = field(default_factory=dict)

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Took":
        """Return the ranges of samples, of which there is at least one."""
        models = dict.fromkeys(model for sample in samples for model in sample.tokens)
        # A model that a sample did not need counts as 0 there, so the range begins low.
        counts = {model: [sample.tokens.get(model, (0, 0)) for sample in samples] for model in models}
        tokens = {
            model: (spread([read for read, _ in found]), spread([written for _, written in found]))
            for model, found in counts.items()
        }
        return cls(len(samples), spread([sample.seconds for sample in samples]), tokens)


@dataclass(frozen=True)
class Expected:
    """What was known of like steps: by likeness, and the tokens of the first prompt of each model step of the plan."""

    took: Mapping[str, Took] = field(default_factory=dict)
    prompts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, samples: Samples, prompts: Mapping[str, int]) -> "Expected":
        """Return what samples of the ledger say."""
        return cls({likeness: Took.of(found) for likeness, found in sorted(samples.items()) if found}, prompts)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "Expected":
        """Parse the output of `to_json`; numbers that a redaction changed say nothing."""
        took = {}
        for likeness, found in raw.get("took", {}).items():
            try:
                took[likeness] = Took.from_json(found)
            except (KeyError, TypeError, ValueError, AttributeError):
                continue
        prompts = {step: count for step, count in raw.get("prompts", {}).items() if isinstance(count, int)}
        return cls(took, prompts)

    def to_json(self) -> dict[str, Any]:
        """Return it as the ledger keeps it."""
        found = {"took": {likeness: took.to_json() for likeness, took in self.took.items()}, "prompts": self.prompts}
        return {name: dict(value) for name, value in found.items() if value}


def spread(values: Sequence[float]) -> Range:
    """Return the range of values without those at its ends.

    >>> spread([3.0, 1.0, 2.0]), spread([float(n) for n in range(1, 11)])
    ((1.0, 3.0), (2.0, 9.0))
    """
    ordered, out = sorted(values), int(len(values) * LEFT_OUT)
    return ordered[out], ordered[-1 - out]
