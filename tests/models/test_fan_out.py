"""What thirty reviews cost a model, against the requests of a trial in which each of them was shown the whole list."""

import json
from typing import Any

import pytest

from planner_executor import build_graph
from planner_executor.graph.testing import ScriptedModel

RECORDED = 30 * 3_716
"""Characters of the trial's thirty requests, which were most of its 41,000 tokens."""
TEXTS = (
    "Arrived two days late and the box was crushed.",
    "Works perfectly, my third one.",
    "Battery died after a week, support did not answer.",
    "Nice colour.",
    "The manual is only in Dutch.",
    "I love it!!!",
    "Refund still missing after 3 weeks.",
    "It does what it says.",
    "Too loud for a bedroom.",
    "Great support, they replaced it in a day.",
)
REVIEWS = [
    {"id": n + 1, "text": TEXTS[n % 10] + (f" (order {1000 + n})" if n > 9 else ""), "stars": 1 + n % 5}
    for n in range(30)
]
GOAL = (
    "Classify the sentiment and main complaint of each of the 30 reviews in reviews.json, then write a report with the "
    "numbers per complaint and the three most urgent reviews"
)
COMPLAINTS = ["delivery", "defect", "refund_or_support", "documentation", "noise", "other", "none"]
CLASSIFY = {
    "id": "classify",
    "objective": "Classify the review: its sentiment, its main complaint, how urgent an answer is (0 none to 5 at "
    "once), and one sentence why.",
    "for_each": "{reviews_result}",
    "max_items": 30,
    "args": {"review": "{item_result}"},
    "output": {
        "type": "object",
        "required": ["id", "sentiment", "complaint", "urgency", "why"],
        "properties": {
            "id": {"type": "integer"},
            "sentiment": {"enum": ["positive", "neutral", "negative"]},
            "complaint": {"enum": COMPLAINTS},
            "urgency": {"type": "integer", "minimum": 0, "maximum": 5},
            "why": {"type": "string"},
        },
    },
}
FOUND = [
    {"id": n + 1, "sentiment": "negative", "complaint": "delivery", "urgency": 3, "why": "It is late."}
    for n in range(30)
]


@pytest.mark.parametrize(
    ("batch", "answers", "share"),
    [
        ({}, [json.dumps(one) for one in FOUND], 1 / 3),
        ({"batch": 10}, [json.dumps(FOUND[at : at + 10]) for at in (0, 10, 20)], 1 / 10),
    ],
)
def test_thirty_reviews_cost_at_most_a_third_of_what_they_did(batch: Any, answers: list[str], share: float) -> None:
    model = ScriptedModel(answers)
    steps = [{"id": "reviews", "objective": "Read all reviews", "gather": REVIEWS}, {**CLASSIFY, **batch}]
    graph = build_graph(executor=model, tools=[], approval="never", max_concurrency=1)

    state = graph.invoke({"goal": GOAL, "plan": {"steps": steps}}, {"configurable": {"thread_id": "t"}})

    sent = sum(len(str(message.content)) for prompt in model.prompts for message in prompt)
    assert state["status"] == "succeeded" and state["answer"] == FOUND
    assert len(model.prompts) == len(answers) and sent <= RECORDED * share
