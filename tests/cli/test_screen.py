"""Lines on a terminal are broken between words; programs get them whole."""

import re
from collections.abc import Callable
from io import StringIO

import pytest
from full_payloads import FULL
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from planner_executor.graph.cli.commands.audit import GOES_ON
from planner_executor.graph.cli.screen import LABEL, Screen
from planner_executor.graph.plain_text.columns import columns
from planner_executor.graph.record.events import Event
from planner_executor.graph.text.audit import Audit
from planner_executor.graph.text.review.layout import BROKEN, MIN_ROOM, fitted_line

WIDTH = 60
SENTENCE = "read: reads this machine only; write: changes this machine; external: reaches beyond this machine."


def screen(out: StringIO, *, is_terminal: bool = True) -> Screen:
    console = Console(file=out, width=WIDTH, force_terminal=is_terminal, color_system=None, markup=False)
    return Screen(console, console)


def shown(show: Callable[[Screen], None], *, is_terminal: bool = True) -> list[str]:
    out = StringIO()
    show(screen(out, is_terminal=is_terminal))
    return out.getvalue().splitlines()


def audit_lines() -> list[str]:
    events = [Event(seq, kind, "step_1", 1.7e9, payload) for seq, (kind, payload) in enumerate(FULL.items(), 1)]
    return list(Audit("demo.1", events, {}).lines())


@pytest.mark.parametrize("line", [SENTENCE, *audit_lines()])
def test_a_word_is_broken_only_if_it_is_longer_than_a_line(line: str) -> None:
    lines = shown(lambda screen: screen.show_text(line, under=GOES_ON))

    assert max(map(columns, lines)) <= WIDTH
    assert all(other[:GOES_ON].isspace() for other in lines[1:])
    long = [word for word in line.split() if columns(word) > WIDTH - GOES_ON]
    assert sum(part.endswith(BROKEN) for part in lines) == 0 or long
    rejoined = " ".join(lines[:1] + [part[GOES_ON:] for part in lines[1:]]).replace(f"{BROKEN} ", "")
    assert rejoined.split() == line.split()


@pytest.mark.parametrize("say", [Screen.say, Screen.complain, Screen.show_text, Screen.show_fact])
def test_whatever_a_screen_says_is_broken_between_words(say: Callable[[Screen, str], None]) -> None:
    lines = shown(lambda screen: say(screen, SENTENCE))

    assert len(lines) == 2 and max(map(len, lines)) <= WIDTH and lines[1].startswith("   ")
    assert " ".join(" ".join(lines).split()) == SENTENCE
    assert shown(lambda screen: say(screen, SENTENCE), is_terminal=False) == [SENTENCE]


@given(st.text(st.sampled_from("ab 計| -")), st.integers(MIN_ROOM + 30, 90), st.none() | st.just(LABEL))
def test_no_letter_is_lost_and_no_line_of_words_from_outside_begins_as_one_of_ours(
    line: str, width: int, under: int | None
) -> None:
    first, *others = fitted_line(line, width, under)

    begins = re.match(" *", line)
    deep = under if under is not None else (len(begins[0]) if begins else 0) + 3
    assert all(other.startswith(" " * deep) for other in others)
    assert "".join("".join([first, *others]).replace(BROKEN, "").split()) == "".join(line.split())


def test_a_command_to_copy_is_never_broken_by_us_and_has_its_own_line_if_need_be() -> None:
    command = "planner-executor resume demo.1 --approve --digest 0123456789ab --db /srv/runs.db"

    assert shown(lambda screen: screen.say("continue with:", whole=command)) == ["continue with:", command]
    assert shown(lambda screen: screen.say("see:", whole="planner-executor runs")) == ["see: planner-executor runs"]
    assert shown(lambda screen: screen.say("continue with:", whole=command), is_terminal=False) == [
        f"continue with: {command}"
    ]


def test_json_is_for_programs_on_a_terminal_too() -> None:
    assert shown(lambda screen: screen.show_json({"goal": SENTENCE})) == ["{", f'  "goal": "{SENTENCE}"', "}"]
