import subprocess
import sys

import tools


def test_the_package_offers_these_names_and_no_others() -> None:
    assert sorted(tools.__all__) == [
        "AllowedHost",
        "McpServers",
        "NothingHappened",
        "ToolError",
        "Transient",
        "default_tools",
        "idempotency_key",
        "tool",
    ]
    assert all(hasattr(tools, name) for name in tools.__all__)


def test_importing_the_package_loads_neither_langchain_nor_pydantic() -> None:
    code = "import sys, tools; sys.exit(any(n.split('.')[0] in {'langchain_core', 'pydantic'} for n in sys.modules))"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
