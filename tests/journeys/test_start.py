"""What a new process does before its first answer: as little as it can."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import manuals
import pytest
from manuals import appears, stranger
from stdio import HELLO, Wire, command_line
from warm_start import installed_script

UNUSED = frozenset(
    {
        "anyio",
        "asyncio",
        "fumishirube.engine.commit_batches",
        "fumishirube_stages.loaders.markdown_files.front_matter",
        "fumishirube_stages.loaders.markdown_files.headings",
        "fumishirube_stages.loaders.json_files.json_divisions",
        "fumishirube_stages.loaders.markdown_files.markdown_documents",
        "fumishirube_stages.loaders.text_files.text_sections",
        "jsonschema",
        "markdown_it",
        "mcp",
        "mcp_types",
        "pickle",
        "rapidfuzz",
        "re2",
        "regex",
        "statistics",
        "subprocess",
        "tqdm",
        "webbrowser",
        "yaml",
    }
)

# A loader like any other, but that it does not come back from some files until it is let go.
STUCK = """
import os, time
from fumishirube import Loader, Register, Section, Document, Source, Stage, hook

class Stuck(Stage):
    def sources(self, root):
        return [Source(one.path) for one in root.files() if one.path.endswith(".stuck")]
    def load(self, root, source):
        text = root.read_bytes(source.path).decode()
        open(os.environ["STUCK"] + ".begun", "w").close()
        while not os.path.exists(os.environ["STUCK"]):
            time.sleep(0.01)
        lines = text.count("\\n") + 1
        whole = Section("stuck", 1, lines, 0, len(text), len(text), 0)
        return Document(source.path, "stuck", text, (whole,))

@hook
def register_loaders(register):
    register("stuck", Stuck)
"""


def printed(*words: str, code: str, cwd: Path) -> str:
    """Run some Python with these arguments in a fresh process, and return its last line."""
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=cwd,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.decode().splitlines()[-1]


@pytest.fixture
def stuck(tmp_path: Path) -> dict[str, str]:
    """A workspace whose manual ``b`` no loader comes back from; the environment to see it with."""
    manuals.write(tmp_path, {"a/a.md": "# 給付\n日額。\n", "b/b.stuck": "給付の条件\n"})
    loaders = "[{use: markdown}, {use: stuck}]"
    (tmp_path / "fumishirube.yaml").write_text(
        f"surfaces: [{{use: manual}}, {{use: graph}}]\n"
        f"pipelines:\n  manual:\n    loaders: {loaders}\n",
        encoding="utf-8",
    )
    return {"PYTHONPATH": stranger(tmp_path, STUCK), "STUCK": str(tmp_path / "go")}


SLICES = ("fumishirube_chapters", "fumishirube_graph", "fumishirube_manual", "fumishirube_vault")


def test_a_search_imports_no_tools_and_nothing_that_it_does_not_use(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[2] / "manuals", tmp_path / "manuals")
    code = (
        "import sys; from fumishirube.faces.cli import main; "
        "main(sys.argv[1:]); print(*sorted(sys.modules))"
    )
    words = ("find", "申請 期限", "--manual", "業務ハンドブック")
    printed(*words, code=code, cwd=tmp_path)
    loaded = printed(*words, code=code, cwd=tmp_path).split()
    assert "fumishirube_manual" in loaded
    offered = [m for m in loaded if m.startswith(SLICES) and m.endswith((".tool_list", "_answers"))]
    assert offered == []
    assert UNUSED.intersection(loaded) == set()


def test_loading_the_plugins_imports_no_tools_of_any_surface(tmp_path: Path) -> None:
    code = (
        "import sys; from fumishirube.plugins.discovery import load_plugins; "
        "load_plugins(strangers=False); "
        f"print(*(m for m in sys.modules if m.startswith({SLICES!r})))"
    )
    loaded = set(printed(code=code, cwd=tmp_path).split())
    needed = {f"{package}{module}" for package in SLICES for module in ("", ".surface")}
    assert needed <= loaded <= needed | {f"{package}.settings" for package in SLICES}


IMPORTED_BY_A_SERVER = """
import sys
from pathlib import Path
from fumishirube.faces.cli.serve import stdio_runner
from fumishirube.host.startup import open_application

Path("manuals").mkdir(exist_ok=True)
tools = open_application(Path.cwd()).tools
stdio_runner()
print(*sys.modules)
"""


@pytest.mark.slow
def test_a_server_over_standard_streams_imports_no_http_server_and_no_database(
    tmp_path: Path,
) -> None:
    loaded = printed(code=IMPORTED_BY_A_SERVER, cwd=tmp_path).split()
    assert {"fumishirube.faces.mcp.stdio", "mcp.server", "sse_starlette"} <= {*loaded}
    assert {"uvicorn", "click", "sqlite3"}.isdisjoint(loaded)
    # Another part of the process may still import it.
    later = f"{IMPORTED_BY_A_SERVER}\nimport uvicorn\nprint(uvicorn.Server.__name__)"
    assert printed(code=later, cwd=tmp_path) == "Server"


@pytest.mark.slow
def test_an_sdk_that_needs_an_http_server_imports_it(tmp_path: Path) -> None:
    needy = "import uvicorn\n\nclass EventSourceResponse: ...\n"
    (tmp_path / "sse_starlette.py").write_text(needy, encoding="utf-8")
    loaded = printed(code=IMPORTED_BY_A_SERVER, cwd=tmp_path).split()
    assert {"fumishirube.faces.mcp.stdio", "uvicorn"} <= {*loaded}


@pytest.mark.slow
def test_a_client_is_answered_while_an_index_is_being_made(
    tmp_path: Path, stuck: dict[str, str]
) -> None:
    with Wire(tmp_path, **stuck) as server:
        assert server.request("tools/list", {})["result"]["tools"]
        appears(Path(stuck["STUCK"] + ".begun"))  # nobody asked for it: it began beside the calls
        server.ok("manual_ls")
        found = server.ok("manual_find", query="日額", manual_id="a", required_terms=["日額"])
        assert found["inline_hits"]["items"][0]["ref"]["path"] == "a.md"
        Path(stuck["STUCK"]).touch()
        found = server.ok("manual_find", query="条件", manual_id="b", required_terms=["条件"])
        assert found["inline_hits"]["items"][0]["ref"]["path"] == "b.stuck"
        assert "degraded" not in found


@pytest.mark.slow
def test_hanging_up_does_not_wait_for_an_index(tmp_path: Path, stuck: dict[str, str]) -> None:
    with Wire(tmp_path, **stuck) as server:
        appears(Path(stuck["STUCK"] + ".begun"))
        assert "Traceback" not in server.hang_up()


def test_who_asks_for_one_manual_does_not_index_another(tmp_path: Path) -> None:
    manuals.write(tmp_path, {"a/a.md": "# 給付\n日額。\n", "b/b.md": "# 給付\n条件。\n"})
    words = [installed_script(), "find", "日額", "--manual", "a"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    assert [one.name for one in (tmp_path / ".fumishirube" / "index").iterdir()] == ["a"]


def test_the_log_is_quiet_unless_it_is_asked_for(tmp_path: Path) -> None:
    manuals.write(tmp_path, {"a/a.md": "# 給付\n日額。\n"})
    for environ, told in (
        ({}, [("manual_read", "not_found")]),
        ({"FUMISHIRUBE_LOG_LEVEL": "INFO"}, [("manual_ls", None), ("manual_read", "not_found")]),
    ):
        with Wire(tmp_path, **environ) as server:
            server.ok("manual_ls")
            server.refused("manual_read", ref={"manual_id": "a", "path": "日額.md"})
            lines = [json.loads(line) for line in server.hang_up().splitlines()]
        assert [(line["tool"], line.get("code")) for line in lines] == told
        assert all("日額" not in str(line) for line in lines)


@pytest.mark.parametrize(("words", "told"), [((), 0), (("--log-level", "info"), 1)])
def test_how_much_is_logged_can_be_said_at_the_start(
    tmp_path: Path, words: tuple[str, ...], told: int
) -> None:
    manuals.write(tmp_path, {"a/a.md": "# 給付\n日額。\n"})
    calls = [
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "manual_ls", "arguments": {}}},
    ]
    said = "".join(json.dumps({"jsonrpc": "2.0", **call}) + "\n" for call in calls)
    command = [*command_line(tmp_path), *words]
    done = subprocess.run(command, input=said.encode(), capture_output=True, check=True)
    assert len(done.stdout.splitlines()) == 2
    assert len(done.stderr.splitlines()) == told
