#!/usr/bin/env python3
"""Build a site of the pages of the repository in which it is started: docs/build_site.py INTO

The site has README.md and every page that links lead to from there, under the paths of the repository, so that links
need no change. Notebooks become pages; Markdown files of tests are shown as text. The navigation is the map in
docs/README.md. Broken links, links to folders or missing sections, and misspelled words are errors.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LINK = re.compile(r"(\]\(|\bsrc=\")([^)#\s\":]+)(?=[)#\"])")
MAP = "docs/README.md"
OPTIONS: dict[str, Any] = {
    "site_name": "planner-executor",
    "docs_dir": "pages",
    "site_dir": "site",
    "theme": {
        "font": False,  # none from another host
        "features": ["navigation.sections", "navigation.top", "content.code.copy", "search.highlight", "toc.follow"],
        "palette": [
            {
                "media": f"(prefers-color-scheme: {look})",
                "scheme": scheme,
                "toggle": {"icon": icon, "name": f"Switch to {other}"},
            }
            for look, other, scheme, icon in (
                ("light", "dark", "default", "lucide/sun"),
                ("dark", "light", "slate", "lucide/moon"),
            )
        ],
    },
    "markdown_extensions": {
        "sane_lists": {},
        "pymdownx.highlight": {},
        "pymdownx.superfences": {},
        "toc": {"permalink": True, "slugify": {"kwds": {"case": "lower"}}},  # anchors as GitHub makes them
    },
}


class SiteError(Exception):
    """What keeps the site from being built."""


def notebook(path: Path) -> str:
    """Return a notebook as a page."""
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(path.read_text("utf-8"))["cells"]]
    texts = [text if kind == "markdown" else f"```python\n{text}\n```" for kind, text in cells]
    return "\n\n".join((*texts, f"Run it: open `{path.parent.name}/{path.name}` in Jupyter.\n"))


def on_site(path: str) -> str:
    """Return the path of a file on the site: notebooks become pages, and Markdown files of tests text."""
    if path.endswith(".md") and "tests" in path.split("/"):
        return f"{path}.txt"
    return f"{path.removesuffix('.ipynb')}.md" if path.endswith(".ipynb") else path


def write_pages(root: Path, into: Path) -> list[str]:
    """Write README.md and all that links lead to from there, and return the pages."""
    todo, seen, pages = ["README.md"], {"README.md"}, []
    while todo:
        path = todo.pop()
        goal = into / on_site(path)
        goal.parent.mkdir(parents=True, exist_ok=True)
        if goal.suffix != ".md":
            shutil.copy(root / path, goal)
            continue
        text = notebook(root / path) if path.endswith(".ipynb") else (root / path).read_text("utf-8")
        for _, link in LINK.findall(text):
            target = os.path.normpath(f"{path}/../{link}")
            if target.startswith("..") or not (root / target).is_file():
                raise SiteError(f"{path} links to {link}, which is no file here; link to an existing file")
            if target not in seen:
                seen.add(target)
                todo.append(target)
        goal.write_text(LINK.sub(lambda found: found[1] + on_site(found[2]), text), "utf-8")
        pages.append(on_site(path))
    return pages


def navigation(text: str) -> list[dict[str, Any]]:
    """Return the sections of the map with the pages of each."""
    sections: list[dict[str, Any]] = [{"Home": "README.md"}, {"Map": MAP}]
    for section in text.split("\n## ")[1:]:
        named = re.findall(r"^\|.*\[.*", section, re.MULTILINE)
        links = re.findall(r"\[([^\]]+)\]\(([^)#]+)\)", "\n".join(named))
        pages = [{title: on_site(os.path.normpath(f"{MAP}/../{page}"))} for title, page in links]
        sections.append({section.partition("\n")[0]: pages})
    return sections


def run(*command: str | Path, at: Path) -> None:
    """Run a program of the environment; its complaints are for whoever builds."""
    if subprocess.run([sys.executable, "-m", *command], cwd=at).returncode:
        raise SiteError(f"{command[0]} found the faults above; correct the pages, or see docs/development.md")


def build(root: Path, into: Path) -> None:
    """Write the site."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        pages = write_pages(root, at / "pages")
        run("codespell_lib", "--toml", root / "pyproject.toml", *pages, at=at / "pages")
        options = {**OPTIONS, "nav": navigation((root / MAP).read_text("utf-8"))}
        (at / "mkdocs.yml").write_text(json.dumps(options), "utf-8")  # any JSON is YAML
        run("zensical", "build", "--strict", "--config-file", "mkdocs.yml", at=at)
        shutil.rmtree(into, ignore_errors=True)
        shutil.move(at / "site", into)


if __name__ == "__main__":
    try:
        build(Path.cwd(), Path(sys.argv[1]))
    except SiteError as fault:
        sys.exit(str(fault))
