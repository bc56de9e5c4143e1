"""Selection of sentences: the most relevant ones, spread over searches and documents.

Sources: Radev, Jing and Budzikowska, "Centroid-based summarization of multiple documents", 2000; Carbonell and
Goldstein, "The use of MMR, diversity-based reranking for reordering documents and producing summaries", 1998.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

from planner_executor.tools.near_duplicates import telling
from planner_executor.tools.summary.sentences import Sentence
from planner_executor.tools.words import content_words, stem

Vector = Mapping[str, float]

_RELEVANCE = 0.7
_SAME = 0.8
_COST_OF_A_SOURCE_AGAIN = 0.05
_GOOD = 0.5
_BONUS_ONE_LINE = 1.15
_MALUS_LEANING = 0.75
_MALUS_NO_END = 0.6
# A sentence that begins with one of these rests on the sentence before it, which may not be chosen.
_LEANS_BACK = frozenset(
    {"it", "its", "this", "that", "these", "those", "they", "he", "she", "but", "and", "so", "then"}
)


def choose(sentences: Sequence[Sentence], count: int, focus: str | None) -> list[Sentence]:
    """Return up to `count` sentences in reading order, of near duplicates one.

    Every search has its turn before one has a second, and no document has more than half of the sentences if others
    hold good ones.

    Args:
        sentences: In the order given; of equal ones the first wins.
        count: How many at most.
        focus: Words to favour; without it, the query that found a sentence is favoured.
    """
    sentences = _to_the_point(sentences, focus)
    vectors = [_unit(Counter(_stems(sentence.text))) for sentence in sentences]
    centroid = _centroid(vectors)
    worth = [_worth(s, v, centroid, focus) for s, v in zip(sentences, vectors, strict=True)]
    overlap, told = [0.0] * len(sentences), [telling(sentence.text) for sentence in sentences]
    turns: Counter[str | None] = Counter({sentence.piece.query: 0 for sentence in sentences})
    sources: Counter[str | None] = Counter()
    left, chosen = set(range(len(sentences))), list[int]()
    while left and len(chosen) < count:
        turn = min(turns[sentences[n].piece.query] for n in left)
        full = {source for source, uses in sources.items() if uses >= (count + 1) // 2}
        best = max(
            _elsewhere([n for n in left if turns[sentences[n].piece.query] == turn], sentences, worth, full),
            key=lambda n: (_marginal(worth[n], overlap[n], sources[sentences[n].piece.source]), -n),
        )
        chosen.append(best)
        turns[sentences[best].piece.query] += 1
        sources[sentences[best].piece.source] += 1
        for n in left:
            overlap[n] = max(overlap[n], _dot(vectors[n], vectors[best]))
        left = {n for n in left if n != best and not (overlap[n] >= _SAME and told[n] == told[best])}
    return _in_reading_order([sentences[n] for n in sorted(chosen)])


def _elsewhere(
    numbers: Sequence[int], sentences: Sequence[Sentence], worth: Sequence[float], full: Set[str | None]
) -> Sequence[int]:
    """Return the good sentences of documents that have not had their share; all of them if there are none."""
    best = max(worth[n] for n in numbers)
    return [n for n in numbers if sentences[n].piece.source not in full and worth[n] >= _GOOD * best] or numbers


def _to_the_point(sentences: Sequence[Sentence], focus: str | None) -> list[Sentence]:
    """Leave out sentences without any wanted word if their search has others."""
    meets = [not (wanted := _wanted(each, focus)) or _met(wanted, each, _stems(each.text)) for each in sentences]
    served = {each.piece.query for each, met in zip(sentences, meets, strict=True) if met}
    return [each for each, met in zip(sentences, meets, strict=True) if met or each.piece.query not in served]


def _wanted(sentence: Sentence, focus: str | None) -> set[str]:
    return set(_stems(focus or sentence.piece.query or ""))


def _met(wanted: Set[str], sentence: Sentence, stems: Iterable[str]) -> float:
    """Return how many of the wanted words a sentence holds; one that only its heading holds counts half."""
    held, heading = wanted & set(stems), wanted & set(_stems(sentence.piece.heading or ""))
    return len(held) + 0.5 * len(heading - held)


def _stems(text: str) -> list[str]:
    return [stem(word) for word in content_words(text)]


def _marginal(worth: float, overlap: float, source_uses: int) -> float:
    return _RELEVANCE * worth - (1 - _RELEVANCE) * overlap - _COST_OF_A_SOURCE_AGAIN * source_uses


def _worth(sentence: Sentence, vector: Vector, centroid: Vector, focus: str | None) -> float:
    """Return the score of a sentence, 0 to about 1."""
    wanted = _wanted(sentence, focus)
    worth = _dot(vector, centroid)
    if wanted:
        worth = 0.4 * worth + 0.6 * _met(wanted, sentence, vector) / len(wanted)
    if sentence.text.lower().split(maxsplit=1)[0].strip("*_\"'“(") in _LEANS_BACK:
        worth *= _MALUS_LEANING
    if not sentence.text.rstrip("*_`\"')").endswith((".", "!", "?")):
        worth *= _MALUS_NO_END  # a title or a scrap of a list, more often than not
    if sentence.line is not None and sentence.line == sentence.end_line:
        worth *= _BONUS_ONE_LINE  # a citation of one line is the easiest to check
    return worth / (1 + 0.03 * sentence.rank)


def _centroid(vectors: Sequence[Vector]) -> Vector:
    total: dict[str, float] = {}
    for vector in vectors:
        for word, weight in vector.items():
            total[word] = total.get(word, 0.0) + weight
    return _unit(total)


def _unit(vector: Vector) -> Vector:
    length = math.sqrt(sum(weight * weight for weight in vector.values()))
    return {word: weight / length for word, weight in vector.items()} if length else {}


def _dot(left: Vector, right: Vector) -> float:
    small, large = (left, right) if len(left) <= len(right) else (right, left)
    return sum(weight * large.get(word, 0.0) for word, weight in small.items())


def _in_reading_order(chosen: Sequence[Sentence]) -> list[Sentence]:
    """Sort by search, then document, as they came; within a document by place."""
    queries = list(dict.fromkeys(sentence.piece.query for sentence in chosen))
    sources = list(dict.fromkeys(sentence.piece.source for sentence in chosen))
    return sorted(
        chosen,
        key=lambda each: (
            queries.index(each.piece.query),
            sources.index(each.piece.source),
            each.piece.page or each.line or 0,
            each.rank,
        ),
    )
