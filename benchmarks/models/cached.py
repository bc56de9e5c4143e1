"""How much of the prompts came from a provider's cache, which providers say and our records do not keep."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from langchain_core.messages.ai import UsageMetadata

FILE = "prompts.json"


@dataclass(frozen=True)
class Prompted:
    """Tokens of the prompts of which a provider says how many came from its cache, and how many these were."""

    tokens: int = 0
    cached: int = 0

    def __add__(self, other: "Prompted") -> "Prompted":
        return Prompted(self.tokens + other.tokens, self.cached + other.cached)

    @classmethod
    def of(cls, usage: Mapping[str, UsageMetadata]) -> "Prompted":
        """Return the sum over the models whose provider says it."""
        told = [(counted["input_tokens"], counted.get("input_token_details", {})) for counted in usage.values()]
        return sum((cls(tokens, known["cache_read"]) for tokens, known in told if "cache_read" in known), cls())

    @property
    def share(self) -> str:
        """The share in words."""
        return f"{100 * self.cached / self.tokens:.0f} %" if self.tokens else "unknown"


def read_prompted(folder: Path) -> dict[str, Prompted]:
    """Return what is known of the trials in a folder, by the folder of each."""
    file = folder / FILE
    kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return {trial: Prompted(**each) for trial, each in kept.items()}


def write_prompted(folder: Path, prompted: Mapping[str, Prompted]) -> None:
    """Keep what is known, so that a trial that goes on has it."""
    (folder / FILE).write_text(json.dumps({trial: asdict(each) for trial, each in prompted.items()}), "utf-8")
