"""What README and docs show is run: each Python block on its own, in an empty folder; each link leads somewhere."""

import re
import subprocess
import sys
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from planner_executor import build_graph
from planner_executor.graph.cli import app
from planner_executor.graph.ledger.tables.ended_sessions import NAMED as ENDED_SESSIONS
from planner_executor.graph.ledger.tables.schema import TABLES
from planner_executor.graph.record.run_status import ENDS
from planner_executor.graph.route import STATUS
from planner_executor.graph.state import Input

ROOT = Path(__file__).parents[2]
FOLLOWED = ("start.md", "embed.md")
"""Pages whose blocks need each other or a project: tests/cli/test_start_page.py, tests/scenarios/test_embedding.py."""
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
TERMS = (
    "artifact|attempt|blocked|budget|checkpoint|critical path|digest|effect|executor|fork|goal|grant|idempotent|intent"
    "|lease|ledger|look|outcome|pack|parameter|plan|planner|playbook|policy|reference|replanner|retry|review request"
    "|revision|run|standing approval|step|terms|thread|uncertain|worker|workspace"
)
"""Words that mean something of their own here, each by one name."""
FOR_USERS = ("Start", "How to", "Reference", "Security", "When not to use this")
NOT_BY_HAND = ("made from the code", "measured or cited")
"""What the map says of pages that nobody has to keep short."""
MOST_WORDS = 42_000
"""All pages for users together, with their code."""


def user_pages() -> list[Path]:
    """Return the pages for users that are written by hand, as the map lists them."""
    sections = (ROOT / "docs" / "README.md").read_text().split("\n## ")
    rows = [row for section in sections if section.startswith(FOR_USERS) for row in section.splitlines()]
    listed = [row for row in rows if not row.rstrip(" |").endswith(NOT_BY_HAND)]
    return [ROOT / "docs" / name for row in listed for name in re.findall(r"\]\(([\w-]+\.md)\)", row)]


def python_blocks() -> list[Any]:
    return [
        pytest.param(block, id=f"{page.relative_to(ROOT)}-{number}")
        for page in PAGES
        for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL), 1)
        if page.name not in FOLLOWED
    ]


@pytest.mark.parametrize("block", python_blocks())
def test_a_python_block_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    exec(compile(block, "block", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text()) + re.findall(r'src="([^"]+)"', page.read_text())
    lost = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert lost == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_section_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", page.read_text())
    assert [link for link in links if link[1] not in sections(page.parent / link[0] if link[0] else page)] == []


def sections(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_line_names_a_command_and_its_options(page: Path) -> None:
    for line in re.findall(r"^(?:\S*/)?planner-executor ([a-z].*)$", blocks(page), re.MULTILINE):
        words = re.sub(r"#.*|\\$", "", line).split()
        command: Any = get_command(app)
        while words and isinstance(command, TyperGroup):
            command = command.commands[words.pop(0)]
        known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        options = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
        assert not set(options) - known - {"--help"}, line


def first_cells(page: str, heading: str) -> str:
    """Return the first cells of the table below a heading."""
    section = (ROOT / "docs" / page).read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return "\n".join(re.findall(r"^\| (.*?) \|", section, re.MULTILINE))


def test_every_argument_of_build_graph_is_in_its_table() -> None:
    """Settings have a page of their own, which is made of them."""
    known = {*signature(build_graph).parameters} - {"settings"}

    assert set(re.findall(r"`(\w+)`", first_cells("python.md", "Arguments of `build_graph`"))) == known


def test_every_table_in_postgresql_is_in_its_table() -> None:
    listed = first_cells("architecture.md", "Tables of the ledger")

    assert set(re.findall(r"`(\w+)`", listed)) == {*TABLES, ENDED_SESSIONS}


def test_every_field_of_an_input_is_in_its_table() -> None:
    assert set(re.findall(r"`(\w+)`", first_cells("studio.md", "Input"))) == set(Input.__annotations__)


def test_no_page_has_a_misspelled_word() -> None:
    pytest.importorskip("codespell_lib", reason="codespell is not installed")
    command = [sys.executable, "-m", "codespell_lib", "--toml", ROOT / "pyproject.toml", *PAGES]

    assert subprocess.run(command, capture_output=True, text=True).stdout == ""


def blocks(page: Path) -> str:
    return "\n".join(re.findall(r"```(?:sh|bash|console)?\n(.*?)```", page.read_text(), re.DOTALL))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_row_of_a_table_has_as_many_cells_as_its_head(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)

    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1, table


def test_every_status_has_a_next_move() -> None:
    page = (ROOT / "docs" / "when-a-run-stops.md").read_text()
    named = {
        status for cell in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for status in re.findall(r"`(\w+)`", cell)
    }

    assert set(ENDS) | set(STATUS.values()) | {"paused"} <= named


def test_every_test_that_the_docs_name_is_there() -> None:
    defined = {file: set(re.findall(r"def (test_\w+)\(", file.read_text())) for file in (ROOT / "tests").rglob("*.py")}
    everywhere = set().union(*defined.values())
    lost = []
    for page in PAGES:
        for line in page.read_text().splitlines():
            files = [ROOT / name for name in re.findall(r"`(tests/[\w/]+\.py)[`:]", line)]
            known = set().union(*(defined.get(file, ()) for file in files)) if files else everywhere
            tests = re.findall(r"[`:](test_\w+)`", line)
            lost += [name for name in (*files, *tests) if name not in known and name not in defined]
    assert lost == []


def test_the_rules_that_bind_are_few_and_each_is_one_sentence_with_its_test_and_its_decision() -> None:
    page = (ROOT / "docs" / "decisions" / "README.md").read_text()
    rules = re.findall(r"^\| (.+?) \| (.+) \| (.+) \|$", page, re.MULTILINE)[2:]

    assert 0 < len(rules) <= 25
    assert [rule for rule, _, _ in rules if not re.fullmatch(r"[A-Z][^.;:]*\.", rule)] == []
    named = r"`tests/[\w/]+\.py::test_\w+`"
    assert [rule for rule, tests, _ in rules if not re.fullmatch(rf"{named}(, {named})*", tests)] == []
    assert [rule for rule, _, decisions in rules if not re.search(r"\[\d+\]\(\d{4}-", decisions)] == []


def test_every_decision_is_behind_a_rule_or_in_the_history_once() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text())

    assert sorted(listed) == sorted(page.name for page in folder.glob("[0-9]*.md"))


def test_every_page_is_on_the_map_once_and_the_readme_leads_to_the_start_and_to_the_map_alone() -> None:
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    mapped = re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs" / "README.md").read_text())
    after = (ROOT / "README.md").read_text().split("\n## Where to go next\n")[1]

    assert sorted(mapped) == sorted(pages)
    assert re.findall(r"\]\((docs/.*?)\)", after) == ["docs/start.md", "docs/README.md"]


def test_no_page_uses_a_term_that_the_glossary_lacks() -> None:
    glossary = {word.lower() for word in re.findall(r"\*\*(.+?)\*\*", (ROOT / "docs" / "concepts.md").read_text())}
    pages = "\n".join(page.read_text().lower() for page in (ROOT / "docs").glob("*.md") if page.name != "concepts.md")

    assert set(re.findall(rf"\b(?:{TERMS})\b", pages)) - glossary == set()


def test_the_pages_for_users_have_a_bounded_number_of_words() -> None:
    words = {page.name: len(page.read_text().split()) for page in user_pages()}

    assert len(words) > 20 and sum(words.values()) <= MOST_WORDS, words


@pytest.mark.parametrize("page", user_pages(), ids=lambda page: page.name)
def test_a_page_for_users_has_one_word_for_each_thing(page: Path) -> None:
    table = (ROOT / "docs" / "concepts.md").read_text().split("\n## One word for each\n")
    avoided = ", ".join(re.findall(r"^\| .* \| (.*) \|$", table[1], re.MULTILINE)[1:]).split(", ")
    text = re.sub(
        r"```.*?```|`[^`\n]*`", "", (table[0] if page.name == "concepts.md" else page.read_text()), flags=re.DOTALL
    )

    assert re.findall(rf"\b(?:{'|'.join(avoided)})s?\b", text, re.IGNORECASE) == []
