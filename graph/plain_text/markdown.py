r"""Text from outside in a chat: a client reads Markdown, and words of strangers must not become markup there.

Verbatim text stands in a fence that its content cannot close. Answers keep their headings, lists,
tables and code, but no image, no HTML, and no link that hides where it leads; they are written anew from what a
parser finds, with every other sign escaped, so that a client with another dialect finds nothing else in them.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from planner_executor.graph.plain_text.sanitize import document, escape, visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

MOST_CHARACTERS = 20_000
"""Longer answers are not parsed, but fenced."""
MOST_NESTED = 12
"""So are those whose lists and quotes lie deeper in one another."""
NOTHING_LEFT = "(HTML or images alone; the whole is the run's answer)"

_TICKS = re.compile("`+|~+")
_MARKUP = re.compile(r"\]\s*[(:\[]|\[\[|<[A-Za-z/!?]|mermaid", re.IGNORECASE)
"""Without one of these there is no image, link, HTML or drawing in any dialect: references need a `[name]:` too."""
_ACTIVE = re.compile(r"[`*\[\]<>|~$]|(?<![^\W_])_|_(?![^\W_])|\\(?=[!-/:-@\[-`{-~]|$)|&(?=[#A-Za-z])")
_LINE_START = re.compile(r"^(?:[-+=:#](?=\W|$)|\d{1,9}(?=[.)]))", re.MULTILINE)
_BARE_PIPE = re.compile(r"(?<!\\)\|")
_TAG = re.compile(r"<!--.*?-->|</?[A-Za-z!?][^>]*>", re.DOTALL)
_ADDRESS = re.compile(r"https?://[!-;=?-\[\]-_a-~]+")
_BREAK = "\\\n"
_LANGUAGE = re.compile(r"[A-Za-z0-9+#-]{1,20}")
_DRAWN = frozenset({"mermaid", "math", "latex", "html", "svg", "dot", "graphviz", "plantuml"})
"""Languages that some clients draw instead of showing them."""


def fenced(text: str, language: str = "text") -> str:
    r"""Return text as a block of code that nothing in it can end; it has to stand at the beginning of a line.

    >>> print(fenced("# Approved\n```"))
    ````text
    # Approved
    ```
    ````
    """
    fence = "`" * (1 + max([2, *map(len, _TICKS.findall(text))]))
    return f"{fence}{language}\n{visible(text)}\n{fence}"


def code(text: str) -> str:
    r"""Return words from outside, escaped before, as code within a line, which nothing in them can end.

    >>> print(code("**approved** `\nDigest: 0"))
    ``**approved** `\u{a}Digest: 0``
    """
    return _code(visible(text).replace("\n", escape("\n")))


def answer_markdown(text: str) -> str:
    """Return an answer for a chat: no image and no HTML is left, and links show where they lead.

    >>> print(answer_markdown("See [the *bank*](https://example.org/login)<hr> ![pixel](https://example.org/p?q=1)"))
    See the *bank* (<https://example.org/login>) (image left out: pixel)
    """
    text = document(text)
    # Parsing takes long, and most answers have nothing that would be left out.
    if not _MARKUP.search(text):
        return text
    if len(text) > MOST_CHARACTERS:
        return fenced(text)
    from markdown_it.tree import SyntaxTreeNode

    tokens = _parser().parse(text)
    # Writing them anew calls itself for each level.
    if any(token.level >= MOST_NESTED for token in tokens):
        return fenced(text)
    return _blocks(SyntaxTreeNode(tokens).children) or NOTHING_LEFT


def text_markdown(text: str) -> str:
    """Return plain words as `answer_markdown` writes them where they stand between others.

    >>> text_markdown("a*b [c]")
    'a\\\\*b \\\\[c\\\\]'
    """
    return _plain(document(text))


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": MOST_NESTED + 4}).enable(["table", "strikethrough"])


def _blocks(nodes: "list[SyntaxTreeNode]", apart: str = "\n\n") -> str:
    return apart.join(filter(None, map(_block, nodes)))


def _block(node: "SyntaxTreeNode") -> str:
    """Return one block, and all that is in it, as Markdown."""
    if node.type == "heading":
        return f"{'#' * int(node.tag[1:])} {_joined(_paragraph(node))}".rstrip()
    if node.type in ("fence", "code_block"):
        return _code_block(node)
    if node.type == "blockquote":
        return "\n".join(f"> {line}".rstrip() for line in _blocks(node.children).split("\n"))
    if node.type in ("bullet_list", "ordered_list"):
        return _list(node)
    if node.type == "table":
        return "\n".join(_rows(node))
    if node.type == "hr":
        return "***"
    # Tags are taken out and the text stays: HTML in an answer is read and never rendered.
    if node.type == "html_block":
        return _started(
            "\n".join(line.strip() for line in _plain(_TAG.sub("", node.content)).split("\n") if line.strip())
        )
    return _paragraph(node)


def _paragraph(node: "SyntaxTreeNode") -> str:
    return _started("\n".join(line.strip(" ") for line in _inline(node).strip().split("\n")))


def _started(text: str) -> str:
    """Return the text so that none of its lines begins a list, a heading, a table or a line across."""
    return _LINE_START.sub(lambda found: f"{found[0]}\\" if found[0][0].isdigit() else f"\\{found[0]}", text)


def _code_block(node: "SyntaxTreeNode") -> str:
    language = _LANGUAGE.fullmatch(node.info.strip())
    named = language[0] if language and language[0].lower() not in _DRAWN else ""
    return fenced(node.content.removesuffix("\n"), named)


def _list(node: "SyntaxTreeNode") -> str:
    number, items = int(node.attrs.get("start", 1)), []
    for place, item in enumerate(node.children):
        mark = "- " if node.type == "bullet_list" else f"{number + place}. "
        is_tight = any(child.hidden for child in item.children)
        first, *rest = _blocks(item.children, "\n" if is_tight else "\n\n").split("\n")
        items += [f"{mark}{first}".rstrip(), *(f"{' ' * len(mark)}{line}".rstrip() for line in rest)]
    return "\n".join(items)


def _rows(table: "SyntaxTreeNode") -> list[str]:
    rows = [row for part in table.children for row in part.children]
    cells = [[_cell(cell) for cell in row.children] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return [lines[0], f"|{' --- |' * len(cells[0])}", *lines[1:]]


def _cell(node: "SyntaxTreeNode") -> str:
    return _BARE_PIPE.sub(r"\\|", _joined(_inline(node).strip()))


def _joined(lines: str) -> str:
    """Return a paragraph on one line, as headings and cells need it."""
    return lines.replace(_BREAK, " ").replace("\n", " ")


def _inline(node: "SyntaxTreeNode") -> str:
    """Return the content of a line: escaped text, emphasis, code, and link targets."""
    if node.type == "text":
        return _plain(node.content)
    if node.type == "softbreak":
        return "\n"
    if node.type == "hardbreak":
        return _BREAK
    if node.type == "html_inline":
        return _BREAK if node.content.lower().startswith("<br") else ""
    if node.type == "code_inline":
        return _code(node.content)
    # A client would fetch it at once, and tell its server that the answer was read, and what is in the address.
    if node.type == "image":
        words = _plain(node.content)
        return f"(image left out: {words})" if words else "(image left out)"
    within = "".join(map(_inline, node.children))
    if node.type in ("em", "strong", "s"):
        return f"{node.markup}{within}{node.markup}" if within.strip() else within
    return _link(node, within) if node.type == "link" else within


def _link(node: "SyntaxTreeNode", words: str) -> str:
    target = visible(str(node.attrs.get("href", "")))
    shown = f"<{target}>" if _ADDRESS.fullmatch(target) else _code(target)
    is_bare = node.info == "auto"
    return shown if is_bare or not words.strip() else f"{words} ({shown})"


def _code(content: str) -> str:
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", content)), default=0))
    # A mark at an end needs room, which Markdown takes off again at both ends.
    room = " " if content[:1] in ("`", " ", "") or content[-1:] in ("`", " ") else ""
    return f"{ticks}{room}{content}{room}{ticks}"


def _plain(text: str) -> str:
    return _ACTIVE.sub(lambda found: f"\\{found[0]}", text)
