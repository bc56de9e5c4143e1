"""How much a run asks: people for approval, and its replanner for revisions."""

from typing import Literal

ApprovalMode = Literal["always", "side_effects", "never"]
Replan = Literal["never", "failure", "every_step"]
