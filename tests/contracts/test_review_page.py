"""`docs/review-surfaces.md`: the surfaces of a review side by side, made from the files of tests/data/reviews."""

import os
import re
from pathlib import Path

SNAPSHOTS = Path(__file__).parents[1] / "data" / "reviews"
PAGE = Path(__file__).parents[2] / "docs" / "review-surfaces.md"
ON_PAGE = {
    "gate": "A gate",
    "held_call": "A held call",
    "revision_after_failure": "A revision after a failure",
    "revision_after_comments": "A revision after comments on steps",
    "question": "A question",
    "uncertain_effect": "An uncertain effect",
    "spent_budget": "A budget to raise",
}
HEAD = """# A review on every surface

Made from the code: the files of `tests/data/reviews`, which tests compare with what each surface shows.
Terminal, chat, notebook and Studio show the words that are [made of the value](review.md#the-content-as-data) under
`review`; the [desk](review-desk.md) shows the value in tables, above the form with which one decides.
"""


def test_a_page_has_the_surfaces_side_by_side() -> None:
    page = "\n".join([HEAD, *(part for name, title in ON_PAGE.items() for part in side_by_side(name, title)), *alike()])
    if os.environ.get("RENEW_SNAPSHOTS"):
        PAGE.write_text(page, "utf-8")
    assert PAGE.read_text("utf-8") == page, f"{PAGE} differs; `make snapshots` writes it anew"


def alike() -> list[str]:
    """Return the section of requests that are decided together: a terminal, and the table of the desk."""
    folder = SNAPSHOTS / "alike_refunds"
    (rows,) = re.findall(r"<table>.*</table>", (folder / "desk.html").read_text("utf-8"), re.DOTALL)
    links = ", ".join(
        f"[{file}](../tests/data/reviews/alike_refunds/{file})"
        for file in ("terminal_60.txt", "terminal_120.txt", "desk.html", "desk_decided.html")
    )
    unlinked = re.sub(r"</?(?:a|label|input)\b[^>]*>", "", rows)
    told = re.findall(r"<p class=\"notice.*?</p>", (folder / "desk_decided.html").read_text("utf-8"))
    decided = "; ".join(re.sub(r"<[^>]*>", "", one) for one in told)
    return [
        "## Alike requests\n",
        "Six refunds that are [decided in one go](policy.md#alike-requests), and a seventh to another\n"
        "kind of recipient, which is left out. `inbox --alike` in a terminal of 80 columns:\n",
        f"```text\n{(folder / 'terminal_80.txt').read_text('utf-8').strip()}\n```\n",
        f"On the desk, where each has a box to untick:\n\n{unlinked}\n",
        f"With the seventh unticked, *Approve those ticked* leads to: {decided}. The seventh waits.\n",
        f"Elsewhere: {links}.\n",
    ]


def side_by_side(name: str, title: str) -> list[str]:
    """Return the section of a case: a terminal, the desk, and links to the other files."""
    folder = SNAPSHOTS / name
    links = ", ".join(
        f"[{file}](../tests/data/reviews/{name}/{file})"
        for file in ("terminal_60.txt", "terminal_120.txt", "chat.md", "notebook.txt", "notebook.html", "studio.json")
    )
    # A line of its own that is blank would end the HTML within Markdown.
    tables = re.sub(
        r"(?<=<td dir=\"auto\">)[^<]*",
        lambda found: found[0].replace("\n", "<br>"),
        (folder / "desk.html").read_text("utf-8"),
    )
    return [
        f"## {title}\n",
        "In a terminal of 80 columns:\n",
        f"```text\n{(folder / 'terminal_80.txt').read_text('utf-8').strip()}\n```\n",
        f"On the desk:\n\n{tables}",
        f"Elsewhere, and as clients have it (`studio.json`): {links}.\n",
    ]
