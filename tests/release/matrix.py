"""Install a wheel in empty environments, on the oldest Python that it takes and the newest here, with each extra alone.

`make release` runs it: matrix.py WHEEL CONSTRAINTS. Every environment opens the doors of all extras (doors.py): that of
an extra that is there opens, any other opens or names its extra. Processor time of imports is told as a ratio.
"""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

DOORS = Path(__file__).with_name("doors.py")
UV = shutil.which("uv")
LIGHT = 1.5
"""What an import of the package may take, over a start of Python that does nothing."""


def pythons() -> list[str]:
    """Return the oldest and the newest Python that are found."""
    found = []
    for minor in range(11, 30):
        named = (shutil.which(f"python3.{minor}"), *Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
        works = [
            str(one) for one in named if one and not subprocess.run([one, "-c", ""], capture_output=True).returncode
        ]
        found += works[:1]
    return [*dict.fromkeys((found[0], found[-1]))]


class Environment:
    """An environment with the wheel and some extras."""

    def __init__(self, at: Path, python: str, base: "Environment | None" = None) -> None:
        subprocess.run([python, "-m", "venv", *(["--without-pip"] if UV else []), at], check=True)
        self.python = at / "bin" / "python"
        (self.packages,) = at.glob("lib/python*/site-packages")
        if base and not UV:  # pip would install again, for a minute, what the wheel needs without extras
            code = f"import site; site.addsitedir({str(base.packages)!r})\n"
            (self.packages / "base.pth").write_text(code)

    def install(self, wheel: Path, constraints: Path, extra: str = "") -> None:
        """Install the wheel."""
        pip = [UV, "pip", "install", "--python", self.python] if UV else [self.python, "-m", "pip", "install"]
        named = f"planner-executor{extra and f'[{extra}]'} @ {wheel.as_uri()}"
        subprocess.run([*map(str, pip), "--quiet", "-c", constraints, named], check=True)
        subprocess.run([self.python.with_name("planner-executor"), "--version"], check=True, capture_output=True)

    def doors(self) -> dict[str, str]:
        """Return what is said at the door of each extra."""
        looked = subprocess.run([self.python, "-P", DOORS], cwd=self.packages, stdout=subprocess.PIPE, check=True)
        said: dict[str, str] = json.loads(looked.stdout)
        assert "site-packages" in said.pop("from"), "the tree was imported, and not what is installed"
        return said

    def import_s(self, code: str) -> float:
        """Return the processor time of a process, the middle of five."""

        def once() -> float:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([self.python, "-P", "-c", code], cwd=self.packages, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        return median(once() for _ in range(5))


def faults(said: dict[str, str], extra: str) -> list[str]:
    """Return what is wrong with what the doors say if one extra is there."""
    lost = [name for name, text in said.items() if "'.[" in text or "ModuleNotFoundError" in text]
    mute = [name for name in lost if f"'.[{name}]'" not in said[name] and name != "studio"]
    return [f"{name}: {said[name]}" for name in {*mute, *({extra} & {*lost})}]


def tried(python: str, wheel: Path, constraints: Path, at: Path) -> list[str]:
    """Print what is found on one Python, and return what is wrong."""
    base = Environment(at / "base", python)
    base.install(wheel, constraints)
    bare, light, whole, theirs = map(
        base.import_s,
        (
            "",
            "import planner_executor",
            "from planner_executor import build_graph",
            "import langgraph.graph, langchain.agents, langchain_openai",
        ),
    )
    print(
        f"{python}: import planner_executor takes {light / bare:.2f} of a start of Python, at most {LIGHT}", flush=True
    )
    print(
        f"{python}: build_graph takes {whole / theirs:.2f} of an import of langgraph, langchain and langchain_openai",
        flush=True,
    )
    wrong = [f"{python}: import planner_executor takes {light / bare:.2f}"] if light > LIGHT * bare else []
    said = base.doors()
    wrong += [f"{python} without extras: {fault}" for fault in faults(said, "")]
    if not UV:  # others take what it needs from here, and each has the wheel itself
        subprocess.run([base.python, "-m", "pip", "uninstall", "--quiet", "--yes", "planner-executor"], check=True)
    for extra in said:
        one = Environment(at / extra, python, base)
        one.install(wheel, constraints, extra)
        found = faults(one.doors(), extra)
        wrong += [f"{python} with {extra}: {fault}" for fault in found]
        print(f"{python} with {extra}: {'; '.join(found) or 'its door opens'}", flush=True)
    return wrong


def main(wheel: Path, constraints: Path) -> int:
    """Return 1 if anything is wrong."""
    found = pythons()
    if len(found) == 1:
        print(f"{found[0]} alone is here: no newer Python is tried")
    wrong = []
    for number, python in enumerate(found):
        with tempfile.TemporaryDirectory() as folder:
            wrong += tried(python, wheel, constraints, Path(folder) / str(number))
    print(*wrong, sep="\n", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*(Path(name).resolve() for name in sys.argv[1:])))
