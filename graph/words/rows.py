"""Rows that code reads as a sequence and a notebook shows as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

Row = TypeVar("Row")


@dataclass(frozen=True)
class Rows(Sequence[Row], Generic[Row]):
    """Some rows, in order."""

    rows: tuple[Row, ...]

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)
