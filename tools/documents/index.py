"""Full-text index over passages, in memory."""

import sqlite3
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

from planner_executor.tools.documents.passages import Block, Document, Passage
from planner_executor.tools.documents.query import match_any, names_with_signs, query_words
from planner_executor.tools.near_duplicates import are_near

_SCHEMA = """
CREATE VIRTUAL TABLE passages USING fts5(text, headings, title, names,
    tokenize = 'porter unicode61 remove_diacritics 2')
"""
# FTS5 gives the best passage the lowest number.
_RANKED = """
SELECT rowid, -bm25(passages, 1.0, 0.5, 0.2, 1.0)
FROM passages WHERE passages MATCH ? ORDER BY 2 DESC LIMIT 300
"""
_HOLDING = "SELECT rowid FROM passages WHERE passages MATCH ?"

# At half the score of the best, other documents came in with passages that had little to do with the query.
_GOOD = 0.85
_WEIGHT_OF_COVERAGE = 10.0
_WORDS_OF_A_STATEMENT = 8
_WEIGHT_OF_BLOCK: dict[Block, float] = {"heading": 0.6, "code": 0.6, "row": 0.85}


@dataclass(frozen=True)
class Found:
    """A passage that answers a query, and the title of its document; a higher score is better."""

    passage: Passage
    title: str
    score: float


class PassageIndex:
    """Finds passages by words; follows the documents it is given; may be used from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        weakref.finalize(self, self._database.close)
        self._database.execute(_SCHEMA)
        self._rows: dict[str, tuple[Document, list[int]]] = {}
        self._passages: dict[int, Passage] = {}
        self._next_row = 1

    def search(self, documents: Iterable[Document], query: str, limit: int, min_words: int = 1) -> list[Found]:
        """Return the best passages of the documents, best first, of near duplicates one, not all from one document.

        Args:
            documents: What is searched.
            query: Words, in any order.
            limit: How many passages at most.
            min_words: How many words of the query a passage holds at least.
        """
        words = query_words(query)
        if not words:
            return []
        with self._lock:
            self._follow({document.source: document for document in documents})
            ranked = self._database.execute(_RANKED, (match_any(words),)).fetchall()
            holding = [{row for (row,) in self._database.execute(_HOLDING, (match_any((word,)),))} for word in words]
            passages = {row: self._passages[row] for row, _ in ranked}
            titles = {source: document.title for source, (document, _) in self._rows.items()}
        found = [
            Found(
                passages[row],
                titles[passages[row].source],
                _score(passages[row], rank, [row in rows for rows in holding]),
            )
            for row, rank in ranked
            if sum(row in rows for rows in holding) >= min_words
        ]
        found.sort(key=lambda each: (-each.score, each.passage.source, each.passage.line or each.passage.page or 0))
        return _spread(found, limit)

    def _follow(self, documents: dict[str, Document]) -> None:
        """Bring the index in step with the documents, touching only those that changed."""
        # By identity: the library returns the same object until the file changes.
        stale = [source for source, (document, _) in self._rows.items() if documents.get(source) is not document]
        new = [document for source, document in documents.items() if source not in self._rows or source in stale]
        if not stale and not new:
            return
        with self._database:
            self._database.execute("BEGIN")
            for source in stale:
                self._remove(source)
            for document in new:
                self._add(document)

    def _remove(self, source: str) -> None:
        _, rows = self._rows.pop(source)
        self._database.executemany("DELETE FROM passages WHERE rowid = ?", [(row,) for row in rows])
        for row in rows:
            del self._passages[row]

    def _add(self, document: Document) -> None:
        passages = [passage for passage in document.passages if not passage.is_bibliography]
        rows = list(range(self._next_row, self._next_row + len(passages)))
        self._next_row += len(rows)
        title = f"{document.title} {document.source}"
        self._database.executemany(
            "INSERT INTO passages (rowid, text, headings, title, names) VALUES (?, ?, ?, ?, ?)",
            [
                (row, passage.text, headings, title, names_with_signs(f"{headings} {passage.text}"))
                for row, passage in zip(rows, passages, strict=True)
                for headings in (" ".join(passage.headings),)
            ],
        )
        self._passages.update(zip(rows, passages, strict=True))
        self._rows[document.source] = (document, rows)


def _spread(found: Sequence[Found], limit: int) -> list[Found]:
    """Return up to `limit` passages, half of them from one document at most if others hold good ones."""
    good = [each for each in found if each.score >= _GOOD * found[0].score]
    most = dict.fromkeys((each.passage.source for each in good), (limit + 1) // 2)
    chosen: list[Found] = []
    left: list[Found] = []
    for each in found:
        if len(chosen) == limit:
            break
        if any(are_near(each.passage.text, other.passage.text) for other in [*chosen, *left[:limit]]):
            continue
        # A document without a good passage has no share at all: it only fills up what others leave.
        most[each.passage.source] = most.get(each.passage.source, 0) - 1
        (chosen if most[each.passage.source] >= 0 else left).append(each)
    return sorted([*chosen, *left][:limit], key=found.index)


def _score(passage: Passage, rank: float, held: list[bool]) -> float:
    """Prefer passages that hold many different words of the query, and whole statements to scraps."""
    length = min(1.0, len(passage.text.split()) / _WORDS_OF_A_STATEMENT)
    prose = _WEIGHT_OF_BLOCK.get(passage.block, 1.0)
    return round((rank + _WEIGHT_OF_COVERAGE * sum(held) / len(held)) * (0.5 + 0.5 * length) * prose, 4)
