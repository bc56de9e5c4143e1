"""The site that `make docs` builds of README, the pages and the notebooks."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("zensical", reason="zensical, which builds the site, is not installed")
pytestmark = pytest.mark.e2e
ROOT = Path(__file__).parents[2]
BUILD = [sys.executable, ROOT / "docs" / "build_site.py"]


def test_the_site_has_each_page_of_the_map_and_loads_nothing_from_another_host(tmp_path: Path) -> None:
    built = subprocess.run([*BUILD, tmp_path / "site"], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr

    at = tmp_path / "site" / "docs"
    page = (at / "index.html").read_text("utf-8")
    named = re.findall(r"\]\(([\w/.-]+)\.(?:md|ipynb)\)", (ROOT / "docs" / "README.md").read_text("utf-8"))
    leads = {(at / link).resolve() for link in re.findall(r'href="([^"#:]+)/"', page)}
    assert len(named) > 30
    for name in named:
        name = name.removesuffix("/README")
        assert (at / name / "index.html").is_file() and (at / name).resolve() in leads, name
    assert "idempotent" in (tmp_path / "site" / "search.json").read_text("utf-8")
    assert page.count("(prefers-color-scheme: ") >= 2
    for file in (tmp_path / "site").rglob("*.html"):
        loaded = r'<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="https?:'
        assert not re.search(loaded, file.read_text("utf-8")), file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[x](lost.md)", "docs/page.md links to lost.md"),
        ("[x](../../outside.md)", "docs/page.md links to ../../outside.md"),
        ("[x](README.md#lost)", "docs/page.md:3"),
        ("It was recieved.", "docs/page.md:3: recieved ==> received"),
    ],
)
def test_a_fault_of_a_page_is_named_and_nothing_is_built(tmp_path: Path, text: str, said: str) -> None:
    pages = {
        "README.md": "# Home\n\n[The map](docs/README.md)",
        "docs/README.md": "# Map\n\n## Start\n\n| Page | Contents |\n|---|---|\n| [Page](page.md) | one |\n",
        "docs/page.md": f"# Page\n\n{text}\n",
        "pyproject.toml": "",
    }
    (tmp_path / "tree" / "docs").mkdir(parents=True)
    (tmp_path / "outside.md").write_text("# Outside\n")
    for name, content in pages.items():
        (tmp_path / "tree" / name).write_text(content)

    built = subprocess.run([*BUILD, tmp_path / "site"], cwd=tmp_path / "tree", capture_output=True, text=True)

    assert built.returncode == 1 and said in built.stdout + built.stderr
    assert not (tmp_path / "site").exists()
