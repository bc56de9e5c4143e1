"""The process that sends with Apprise takes no code from the folder that the command was started in."""

from pathlib import Path

import pytest

from planner_executor.graph.errors import NoticeError
from planner_executor.graph.notices import apprise

pytestmark = pytest.mark.slow
PLANTED = "import os, pathlib; pathlib.Path({there!r}, 'seen').write_text(' '.join(os.environ))\n"


@pytest.mark.parametrize("by", ["the current folder", "PYTHONPATH"])
async def test_a_file_named_like_a_module_is_not_run(tmp_path: Path, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("json", "apprise", "graph", "sitecustomize"):
        (folder / f"{name}.py").write_text(PLANTED.format(there=str(tmp_path)))
    if by == "PYTHONPATH":
        monkeypatch.setenv("PYTHONPATH", str(folder))
    else:
        monkeypatch.chdir(folder)

    with pytest.raises(NoticeError, match="does not know such an address"):
        await apprise.send("no-such-kind://x", "title", "body")

    assert [file.name for file in tmp_path.iterdir()] == ["folder"]
