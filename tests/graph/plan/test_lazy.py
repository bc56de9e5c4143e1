from dataclasses import dataclass, field

from planner_executor.graph.plan.lazy import lazy


@dataclass(frozen=True)
class Page:
    text: str
    made: list[str] = field(default_factory=list, compare=False)

    @lazy
    def words(self) -> list[str]:
        """The words."""
        self.made.append(self.text)
        return self.text.split()


def test_it_is_computed_once_and_per_object() -> None:
    one, other = Page("a b"), Page("c")
    assert one.words is one.words and other.words == ["c"]
    assert one.made == ["a b"] and other.made == ["c"]


def test_what_it_gave_does_not_make_objects_differ() -> None:
    one = Page("a b")
    assert one.words and one == Page("a b")


def test_the_class_shows_its_words() -> None:
    assert Page.words.__doc__ == "The words."
