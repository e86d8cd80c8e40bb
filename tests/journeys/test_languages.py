"""The command line in Japanese: help, notes and errors; clients, logs and JSON stay English."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from documents import documents
from manuals import Done, fumishirube, write
from stdio import Wire
from strangers import PLUGIN, stranger

from fumishirube.commands import width
from fumishirube.faces.cli.completion import whole_parser
from fumishirube.faces.cli.messages import catalog, language_of, translated, use_language
from fumishirube.faces.cli.parser import Parser, not_known
from fumishirube.plugins.discovery import load_plugins

ROOT = Path(__file__).parents[2]
JAPANESE = {"LC_ALL": "", "LC_MESSAGES": "", "LANG": "ja_JP.UTF-8", "LANGUAGE": ""}
ENGLISH = {**JAPANESE, "LANG": "en_US.UTF-8"}
KANA = re.compile("[\u3041-\u30ff\u4e00-\u9fff]")
PLACEHOLDER = re.compile(r"\{\d\}")
NUMBER = re.compile(r"\d+")

# What the command line says of its own, and what it prints of errors raised anywhere below it.
SPEAKING = [
    *(ROOT / "core" / "fumishirube" / "faces" / "cli").rglob("*.py"),
    *(ROOT / "plugins").glob("fumishirube_*/command*.py"),
    *(ROOT / "plugins").glob("fumishirube_*/commands/*.py"),
]
# Errors that only other people's tests, MCP clients and the pages of the inspector get.
UNPRINTED = re.compile(
    r"core/fumishirube/(testing|faces/mcp)/|plugins/fumishirube_inspect/(application|hit_pages|session)"
)
RAISING = [
    file
    for folder in ("core/fumishirube", "plugins")
    for file in sorted((ROOT / folder).rglob("*.py"))
    if "packages" not in file.parts and not UNPRINTED.match(file.relative_to(ROOT).as_posix())
]
SAYING = {"complain", "error", "ArgumentTypeError", "ConfigError", "PluginError", "AlreadyServed"}
SAYING |= {"NotFound", "InvalidParameter", "InvalidPath", "InvalidScope", "NeedsNarrowScope"}
SAYING |= {"Conflict", "Forbidden", "OutOfScope", "Unreadable"}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    shutil.copytree(ROOT / "manuals" / "field-guide", folder / "manuals" / "field-guide")
    return folder


def run(workspace: Path, *words: str, **environ: str) -> Done:
    return fumishirube(*words, cwd=workspace, environ={**JAPANESE, "COLUMNS": "80", **environ})


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja"}, "ja"),
        ({"LANG": "en_US.UTF-8"}, None),
        ({"LANG": "de_DE.UTF-8", "LANGUAGE": "de:ja:en"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LANGUAGE": "en"}, None),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": "C.UTF-8"}, None),
        ({"LANG": "C", "LANGUAGE": "ja"}, None),
        ({"LANG": "C.UTF-8", "LANGUAGE": "ja"}, "ja"),
        ({"LC_ALL": "C.utf8", "LANGUAGE": "fr:ja"}, "ja"),
        ({"LANG": "C.UTF-8"}, None),
        ({"LANG": "C", "LC_MESSAGES": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "fr_FR.UTF-8"}, None),
        ({"LANGUAGE": "ja"}, "ja"),
        ({"LANGUAGE": "fr:ja"}, "ja"),
        ({"LANGUAGE": "en:ja"}, None),
        ({"LC_ALL": "POSIX", "LANGUAGE": "ja"}, None),
        ({}, None),
    ],
)
def test_the_language_is_chosen_as_gettext_does(
    environ: dict[str, str], language: str | None
) -> None:
    assert language_of(environ) == language


def helps(parser: Parser) -> Iterator[str]:
    """Yield every text of the help of a parser, and of those below it."""
    for group in parser._action_groups:
        yield from filter(None, (group.title, group.description))
    for action in parser.actions:
        if action.help and action.help != "==SUPPRESS==":
            yield action.help
        for choice in getattr(action, "_choices_actions", ()):
            yield choice.help
        if isinstance(action.choices, dict):
            for below in action.choices.values():
                yield from helps(below)


def test_every_help_text_has_a_translation() -> None:
    texts = {*helps(whole_parser(load_plugins(strangers=False)))}
    assert len(texts) > 150
    lacking = texts - catalog("ja").keys()
    lacking = {text for text in lacking if NUMBER.sub("{0}", text) not in catalog("ja")}
    assert lacking == set(), "add them to faces/cli/messages/ja.po"


def said(node: ast.expr) -> str | None:
    """Return the template of a text in the code: its values are numbered."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        number, text = 0, ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += str(part.value)
            else:
                text, number = f"{text}{{{number}}}", number + 1
        return text
    return None


def messages(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args:
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
            is_log = ast.unparse(function).startswith(("_log.", "_LOG.", "logging."))
            text = said(node.args[0]) if name in SAYING and not is_log else None
            words = "" if text is None else re.sub(r"--\w+", "", PLACEHOLDER.sub("", text))
            if text is not None and re.search("[a-z]{2}", words):
                yield text


def known(text: str) -> bool:
    """Tell whether a message is translated, as a whole or part by part."""
    return text in catalog("ja") or KANA.search(translated(PLACEHOLDER.sub("0", text))) is not None


def test_every_message_of_the_command_line_and_every_error_has_a_translation() -> None:
    texts = {text for file in {*SPEAKING, *RAISING} for text in messages(file)}
    assert len(texts) > 300
    use_language(JAPANESE)
    try:
        lacking = {text for text in texts if not known(text)}
    finally:
        use_language(None)
    assert lacking == set(), "add them to messages/ja.po"


# What doctor, toc and the notes of an answer say of files, settings and plugins.
FINDING = [
    file
    for pattern in (
        *("config/glossary.py", "config/notices.py", "config/yaml_file.py", "disk/folders.py"),
        *("engine/file_loads.py", "engine/folder_index.py", "engine/recoverable_index.py"),
        *("engine/stage_calls.py", "host/f*.py", "host/tool_host.py", "host/useless_stages.py"),
        *("plugins/deprecation.py", "plugins/discovery.py"),
    )
    for file in (ROOT / "core" / "fumishirube").glob(pattern)
]
FINDING += [
    *(ROOT / "plugins" / "fumishirube_stages" / "loaders").glob("*.py"),
    ROOT / "plugins" / "fumishirube_chapters" / "library.py",
    ROOT / "plugins" / "fumishirube_graph" / "warnings.py",
    ROOT / "plugins/packages/fumishirube-documents/src/fumishirube_documents/processes.py",
]
NO_SENTENCES = re.compile(
    r"fumishirube \w+|unknown hook|cannot be imported|(\{\d\} ?)+|\{0\} files? (is|are)"
    r"|module \{0\} has no attribute \{1\}|\{0\} left out, too large or unreadable: \{1\}; \{2\}"
    r"|loader \{0\}\{1\} has been reading .*|file \{0\}: \{1\}|root \{0\}| line \{0\}"
)


def sentences(node: ast.AST) -> Iterator[str]:
    """Yield the texts of three letters and more than one word, but no docstrings and logs."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).lower().startswith(("_log", "log.")):
        return
    text = said(node) if isinstance(node, ast.expr) else None
    if text is not None:
        if re.search("[a-z]{2},? [a-z]{2}", PLACEHOLDER.sub("xx", text)):
            yield text
        return
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
            yield from sentences(child)


def test_every_finding_on_files_and_plugins_has_a_translation() -> None:
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in FINDING]
    texts = {text for tree in trees for text in sentences(tree)}
    assert len(texts) > 80
    use_language(JAPANESE)
    try:
        values = {text: PLACEHOLDER.sub("0", text) for text in texts}
        lacking = {text for text in texts if not KANA.search(translated(values[text]))}
    finally:
        use_language(None)
    assert {text for text in lacking if not NO_SENTENCES.fullmatch(text)} == set()


RESULT_MODULES = ("add", "config", "index", "plugins", "trust")
OF_MANUALS = ("coverage", "explanations", "ls", "toc")
OF_TRACES = ("difference_lines", "trace")
CHECKING = [
    ROOT / "core" / "fumishirube" / "faces" / "cli" / f"{name}.py"
    for name in ("checks", "doctor", "plugin_doctor", "reasons", "stage_uses")
]
_TEXTS = re.compile(
    r"finding|remedy|skipped|_(SOME_)?REMED(Y|IES)|_UNEXPECTED|_OTHER_PLUGIN|_MEANINGS"
)


def findings(file: Path) -> Iterator[str]:
    """Yield the findings and remedies of a module of ``doctor``, and the reasons in them."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Check":
            yield from texts_in(*node.args[2:])
        elif isinstance(node, ast.Assign) and _TEXTS.fullmatch(ast.unparse(node.targets[0])):
            yield from texts_in(node.value)


def texts_in(*nodes: ast.expr) -> Iterator[str]:
    """Yield the texts of expressions: of dictionaries the values, of conditions both."""
    for node in nodes:
        if isinstance(node, ast.Dict):
            yield from texts_in(*node.values)
        elif isinstance(node, ast.IfExp):
            yield from texts_in(node.body, node.orelse)
        else:
            text = said(node) or ""
            is_command = text.startswith("python -m pip")
            if re.search("[a-z]{2} [a-z]{2}", PLACEHOLDER.sub("xx", text)) and not is_command:
                yield " ".join(text.split())


def test_every_check_of_the_doctor_has_a_translation() -> None:
    texts = {text for file in CHECKING for text in findings(file)}
    assert len(texts) > 90
    use_language(JAPANESE)
    try:
        values = {text: PLACEHOLDER.sub("0", text) for text in texts}
        assert {text for text in texts if not KANA.search(translated(values[text]))} == set()
    finally:
        use_language(None)


RESULTS = [
    *(ROOT / "core" / "fumishirube" / "faces" / "cli" / f"{name}.py" for name in RESULT_MODULES),
    *(ROOT / "plugins" / "fumishirube_manual" / "commands" / f"{name}.py" for name in OF_MANUALS),
    *(ROOT / "plugins" / "fumishirube_inspect" / "commands" / f"{name}.py" for name in OF_TRACES),
    ROOT / "plugins" / "fumishirube_authoring" / "commands" / "new_plugin.py",
    ROOT / "plugins" / "fumishirube_eval" / "command.py",
    ROOT / "plugins" / "fumishirube_graph" / "command_lines.py",
    ROOT / "plugins" / "fumishirube_manual" / "commands" / "cite.py",
    ROOT / "plugins" / "fumishirube_vault" / "commands.py",
]


def parts(node: ast.expr | None) -> Iterator[ast.expr]:
    """Yield an expression, or those that a condition chooses from."""
    if isinstance(node, ast.IfExp):
        yield from (*parts(node.body), *parts(node.orelse))
    elif node is not None:
        yield node


def lines_in(file: Path) -> Iterator[tuple[bool, str]]:
    """Yield the texts that are printed, yielded or returned; and whether they are translated."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        values: list[ast.expr | None] = []
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and name in {"print", "translated", "filled"}:
            values = [*node.args[:1]]
        elif isinstance(node, (ast.Yield, ast.Return)):
            values = [node.value]
        for part in (part for value in values for part in parts(value)):
            text = said(part)
            if text is not None and re.search("[a-z]{3}", PLACEHOLDER.sub("", text)):
                yield name in {"translated", "filled"}, text


def test_every_line_of_a_result_has_a_translation() -> None:
    found = [line for file in RESULTS for line in lines_in(file)]
    assert len(found) > 40
    assert [text for is_translated, text in found if not is_translated] == []
    use_language(JAPANESE)
    try:
        texts = {text: PLACEHOLDER.sub("0", text) for _, text in found}
        lacking = [text for text in texts if not KANA.search(translated(texts[text]))]
        assert [text for text in lacking if text not in catalog("ja")] == []
    finally:
        use_language(None)


def traced(workspace: Path, word: str) -> str:
    """Search for a word, and return the id of the trace."""
    (trace,) = run(workspace, "find", word, "--json").json["traces"].values()
    return str(trace)


def shown_by(workspace: Path, *words: str) -> str:
    """Return what a command shows in Japanese, without commands, ids and stages."""
    done = run(workspace, *words)
    data = r"fumishirube [a-z].*|\b[0-9a-f]{8,}\b|\b(run|scorer|fuser|refiner) \S+"
    return re.sub(data, "", done.out + done.err)


@pytest.mark.slow
def test_results_are_japanese_alone(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"手順/a.md": "# 給油\n\n春に給油。\n", "手順/b.md": "# 点検\n\n夏に給油を点検。\n"},
    )
    (tmp_path / "manuals" / "手順" / "c.md").write_bytes(b"\x81 \xff \x81")
    (tmp_path / "manuals" / "手順" / "d.xyz").write_bytes(b"1")
    traces = [traced(tmp_path, word) for word in ("給油", "点検")]
    exported = run(tmp_path, "trace", "export", traces[0], "-o", "t.json").out
    assert exported == "t.json に書き込みました。次: fumishirube trace replay t.json\n"
    (tmp_path / "manuals" / "手順" / "e.md").write_text(
        "# 注油\n\n給油と注油。\n", encoding="utf-8"
    )
    written = [
        run(tmp_path, "vault", "create", "n.md", "x").out,
        run(tmp_path, "vault", "undo").out,
    ]
    assert written[0] == "n.md: 1 バイト書き込みました\n"
    assert re.fullmatch(r"n\.md: 書き込み \S+ を取り消しました。メモはありません\n", written[1])
    for words in (
        ("toc", "手順"),
        ("toc", "手順", "--max-files", "1"),
        ("ls", "手順"),
        ("index",),
        ("vault", "ls"),
        ("vault", "log"),
        ("plugins",),
        ("trace",),
        ("trace", "replay", "t.json"),
        ("trace", "diff", *traces),
        ("coverage", traces[0], "--explain"),
        ("coverage", traces[0], "--why-not", "手順/b.md#L1"),
        ("coverage", traces[0], "--why-not", "手順/e.md#L1"),
    ):
        shown = shown_by(tmp_path, *words)
        assert KANA.search(shown.replace("手順", "")), words
        assert not re.search("[a-z]{3} [a-z]{2}", shown), (words, shown)


def test_results_on_documents_and_citations_are_japanese_alone(tmp_path: Path) -> None:
    write(tmp_path, {"手順/a.md": "# 給油\n\n春に給油。\n"})
    files = {
        "設計.md": "---\nsource_refs: [元.txt]\n---\n# 設計\n\n[[案内#無い]] [[無い]] [[語]]\n",
        "案内.md": "# 案内\n\n案内の本文。\n",
        "甲/語.md": "# 語\n",
        "乙/語.md": "# 語\n",
        "離れ.md": "# 離れ\n\n本文。\n",
    }
    documents(tmp_path, files)
    (tmp_path / "元.txt").write_text("一", encoding="utf-8")
    assert "5 文書、5 節（追加 5、更新 0、削除 0）" in run(tmp_path, "docs", "index").out
    assert run(tmp_path, "docs", "suggest-links").out.endswith(" 組が見つかりました\n")
    (tmp_path / "元.txt").write_text("二二", encoding="utf-8")
    cited = ["manual://手順/a.md#L1", "manual://手順/a.md#L9", "manual://手順/a.md#L1@123456"]
    for words in (
        ("docs", "search", "本文", "--include-linked"),
        ("docs", "search", "本文", "--fulltext"),
        ("docs", "get-page", "設計.md"),
        ("docs", "get-context", "案内.md"),
        ("docs", "get-context", "案内.md", "--max-size", "10"),
        ("docs", "list-pages"),
        ("docs", "get-graph"),
        ("docs", "stale"),
        ("docs", "check"),
        ("docs", "status"),
        ("docs", "suggest-links"),
        ("cite", "check", *cited),
        ("cite", "check"),
    ):
        shown = shown_by(tmp_path, *words)
        data = r"\[\w+\]|\((references|fulltext [\d.]+)[^)]*\)|source_refs: .*"
        shown = re.sub(data, "", shown)
        assert KANA.search(re.sub("設計|案内|手順|離れ|本文|給油|無い|語", "", shown)), words
        assert not re.search("[a-z]{3} [a-z]{2}", shown), (words, shown)


def test_the_summary_of_folded_lines_is_japanese(tmp_path: Path) -> None:
    write(tmp_path, {"手順/a.md": "# 給油\n\n給油。\n", "手順/b.md": "# 給油\n"})
    told = run(tmp_path, "grep", "給油").err
    assert "2 ファイルに3 行（うち異なるもの 2）。2 ファイルを検索" in told


def test_data_that_is_a_word_of_the_catalog_stays(tmp_path: Path) -> None:
    write(tmp_path, {"damaged/a.md": "# Rows\n\nA damaged pump.\n"})
    trace = traced(tmp_path, "damaged")
    assert run(tmp_path, "coverage", trace).out.startswith(f"damaged のトレース {trace}: damaged\n")


def test_the_doctor_speaks_japanese_and_its_json_english(workspace: Path) -> None:
    shown = run(workspace, "doctor").out
    assert re.search("manual field-guide +索引済み: 10 ファイルの84 節", shown)
    assert "状態" in shown or "書き込めます" in shown
    checks = run(workspace, "doctor", "--json").json
    assert "indexed: 84 sections in 10 files" in {check["finding"] for check in checks}
    assert not KANA.search(json.dumps(checks, ensure_ascii=False))


BROKEN = {
    "raising": "raise ImportError('kaputt')",
    "empty-hook": "import fumishirube",
    "wrong-hook": "from fumishirube import hook\n@hook\ndef register_fuzers(register): ...",
    "taking": PLUGIN.format(name="cutoff"),
    "failing-loader": """
from fumishirube import Source, Stage, hook

class Failing(Stage):
    def sources(self, root):
        return [Source(entry.path) for entry in root.entries() if entry.path == "x.md"]
    def load(self, root, source):
        raise ZeroDivisionError

@hook
def register_loaders(register):
    register("failing", Failing)
""",
}
DAMAGED = b"""allow_file_scope: true
pipelines: {manual: {loaders: [{use: failing}, {use: markdown}, {use: json}]}}
surfaces: [{use: manual}, {use: chapters}, {use: graph}]
"""
CONTENTS = """{"manual": 3, "toc": [{"id": 1, "title": 4, "file": "../x.txt"}, 3,
{"id": "1", "file": "y.txt", "children": 3}, {"id": "2", "title": "t", "file": "y.md"}]}"""


def test_the_doctor_speaks_of_all_that_is_wrong_in_japanese(tmp_path: Path) -> None:
    files = {
        "手順/x.md": "# 給油\n",
        "章/00_目次.json": CONTENTS,
        "章/y.txt": "本文",
        "悪/00_目次.json": "{",
    }
    write(tmp_path, files)
    (tmp_path / "docs").mkdir()
    damaged = {"docs/a.md": b"# \x81", "manuals/\u7ae0/b.md": b"# \x81", "manuals/loose.md": b"1"}
    for name, content in {**damaged, "fumishirube.yaml": DAMAGED}.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "manuals" / "手順" / "c.md").symlink_to(tmp_path)
    for name, code in BROKEN.items():
        stranger(tmp_path / "site", name, code)
    done = run(tmp_path, "doctor", PYTHONPATH=str(tmp_path / "site"))
    wrong = [line for line in done.out.splitlines() if line.startswith(("warn", "FAIL"))]
    for told in (
        "読み込めません: ImportError: kaputt",
        "何も登録していません",
        "フック 'register_fuzers' はありません",
        "リファイナー 'cutoff' は組み込みの名前です",
        "手順/x.md で ローダー 'failing' のエラー: ZeroDivisionError",
        "toc[1] はオブジェクトでないため除きました",
        "1 行目が正しい JSON ではありません",
        "UTF-8 でないバイトを � として読みます",
        "シンボリックリンク",
    ):
        assert any(told in line for line in wrong), (told, done.out)
    told_texts = [re.sub("'fumishirube .*?'", "", line.split("  ", 2)[-1]) for line in wrong]
    assert [text for text in told_texts if re.search("[a-z]{3} [a-z]{2}", text)] == []


def test_the_remarks_of_a_file_are_japanese(tmp_path: Path) -> None:
    folder = write(tmp_path, {"手順/a.md": "# 給油\n"}) / "manuals" / "手順"
    for name, content in {"b.json": '{"題": "給', "c.md": "# 給油\n\n給"}.items():
        (folder / name).write_bytes(content.encode()[:-1])
        shown = run(tmp_path, "toc", "手順", "--deep", "--prefix", name).out
        assert "(ファイルが文字の途中で終わり、� として読みます。" in shown
        assert not re.search("[a-z]{3} [a-z]{2}", shown)


def unknown_things() -> Iterator[str]:
    """Yield the first argument of each call that says that there is no such thing."""
    for file in SPEAKING:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = ast.unparse(node.func).rpartition(".")[2]
                text = said(node.args[0]) if name in {"one_of", "not_known", "refuse_word"} else ""
                yield from [text] if text else []


def test_a_wrong_word_is_refused_in_japanese_alone() -> None:
    things = {*unknown_things()}
    assert {"kind of package", "client", "command", "added folder"} <= things
    use_language(JAPANESE)
    try:
        for thing in things:
            told = translated(not_known(thing, "zzz", ["known"]))
            assert KANA.search(told), told
            assert not re.search("[a-z]", re.sub("'zzz'|known", "", told)), told
    finally:
        use_language(None)


def test_every_translation_has_the_same_placeholders_and_is_japanese() -> None:
    for text, translation in catalog("ja").items():
        assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(translation)), text
        words = re.search("[a-z]{3}", PLACEHOLDER.sub("", text.replace("--format", "")))
        if words and not text.startswith(("add: ", "--with: ")):
            assert KANA.search(translation), text


def test_help_is_japanese_and_fits_the_terminal(workspace: Path) -> None:
    told = run(workspace, "find", "--help").out
    assert told.startswith("使い方: fumishirube find ")
    for words in (
        "マニュアルを検索し、",
        "オプション:",
        "どのコマンドにも共通のオプション:",
        "\n例:\n",
    ):
        assert words in told
    assert all(width(line) <= 80 for line in told.splitlines())
    assert run(workspace, "find", "--help", **ENGLISH).out.startswith("usage: fumishirube find ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["fnd"], "fumishirube: コマンド 'fnd' はありません。'find' のことですか"),
        (
            ["find"],
            "fumishirube find: 引数が必要です: WORD。{see}",
        ),
        (
            ["find", "x", "--limit", "0"],
            "fumishirube find: 引数 --limit: 1 以上の整数が必要ですが、'0' でした。{see}",
        ),
        (["ls", "--workspace", "none"], "設定の誤り: --workspace: フォルダ 'none' がありません"),
        (
            ["find", "x", "--manual", "feild-guide"],
            "エラー: マニュアル 'feild-guide' はありません。'field-guide' のことですか [not_found]",
        ),
        (["coverage", "x"], "エラー: トレースがないか、期限が切れています [not_found]"),
    ],
)
def test_errors_are_japanese(workspace: Path, words: list[str], told: str) -> None:
    see = f"fumishirube {words[0]} --help をご覧ください"
    assert run(workspace, *words).err == f"{told.replace('{see}', see)}\n"


def test_a_kind_of_two_words_is_named_in_japanese(workspace: Path) -> None:
    told = run(workspace, "new-plugin", "x", "--kind", "fusor").err
    assert "引数 --kind: パッケージの種類 'fusor' はありません。'fuser' のことですか。" in told


def test_notes_are_japanese_and_documents_are_not_touched(workspace: Path) -> None:
    told, english = (run(workspace, "find", "battery", "care", **e) for e in (JAPANESE, ENGLISH))
    hits, _, notes = told.out.rpartition("\n\n")
    assert hits == english.out.rpartition("\n\n")[0]
    assert re.fullmatch(
        r"1 冊・10 ファイル・84 節を検索。\d+ 件.*\n次: fumishirube read .*\n", notes
    )
    assert run(workspace, "find", "zzyzx").out.startswith("見つかりませんでした\n")


MARKED = "My PC has logs; x failed: y.md"
"""A name of which templates would make something else."""


def test_names_and_commands_are_not_translated(tmp_path: Path) -> None:
    write(tmp_path, {f"m/{MARKED}": "# A\n\nA pump.\n" * 30})
    told = run(tmp_path, "scan", "m", MARKED, "--max-chars", "256").err.splitlines()
    assert re.fullmatch(rf"m/{MARKED} の 1～\d+ 行。ファイルは続きます", told[0])
    assert told[1] == f"次: fumishirube scan m '{MARKED}' --cursor 256"
    told = run(tmp_path, "read", f"m/{MARKED}", "--line", "2").err.splitlines()
    assert told[1] == f"節の一覧: fumishirube toc m --deep --prefix '{MARKED}'"


@pytest.mark.slow
def test_names_in_other_notes_are_not_translated(tmp_path: Path) -> None:
    files = {f"m/{MARKED}": "# A\n", "m/z has b.md": b"\x81 \xff \x81", "x has y/c.q": "c"}
    write(tmp_path, {**files, "a has b.md": "# Loose\n"})
    loose = "マニュアルにも入っていないファイル: a has b.md。"
    assert loose in run(tmp_path, "ls").out
    unread = "x has y で読めないファイル: 1 個の .q ファイル"
    assert run(tmp_path, "toc", "x has y").out.splitlines()[-1] == unread
    told = run(tmp_path, "find", "x", "-v", "--require", "c has d").out
    assert "必須の語: c has d（どの節にもなく、除いて検索）\n" in told
    assert loose in told
    assert unread in told
    assert "（文字コードが不明）: m/z has b.md\n" in told
    assert "検索していません: m/z has b.md: 文字コードが不明" in run(tmp_path, "grep", "x").err


def test_the_place_of_a_page_is_japanese(workspace: Path) -> None:
    read = run(workspace, "read", "field-guide/power.md").err
    assert re.match(r"field-guide/power\.md の 1～\d+ 行。ファイルは(ここで終わり|続き)", read)


def test_json_and_what_clients_get_stay_english(tmp_path: Path, workspace: Path) -> None:
    for words in (["coverage", "x", "--json"], ["ls", "--json"], ["tools", "--json"]):
        told, english = (run(workspace, *words, **e) for e in (JAPANESE, ENGLISH))
        assert told.out == english.out
        json.loads(told.out)
    write(tmp_path, {"m/a.md": "# Oil\n\nOil.\n"})
    (tmp_path / "manuals" / "loose").symlink_to(tmp_path)
    with Wire(tmp_path, **JAPANESE) as server:
        refusal = server.refused("manual_toc", id="nowhere")
        tools = server.request("tools/list", {})
        assert not KANA.search(json.dumps(refusal, ensure_ascii=False))
        log = server.hang_up()
    assert "symbolic link" in log
    assert not KANA.search(log)
    assert tools["result"]["tools"]


def test_a_process_in_english_reads_no_catalog() -> None:
    code = "from fumishirube.faces.cli.messages import catalog, translated, use_language;"
    code += "use_language({}); translated('print JSON'); print(catalog.cache_info().misses)"
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0\n"


def test_the_code_of_an_error_stays_at_its_end(tmp_path: Path) -> None:
    write(tmp_path, {"m/a.md": "# A\n"})
    told = run(tmp_path, "grep", "x" * 201).err
    assert told.endswith("以下でなければなりません [invalid_parameter]\n"), told


@pytest.mark.timeout(30)
def test_a_message_that_repeats_itself_is_translated_soon() -> None:
    use_language(JAPANESE)
    try:
        text = "there is no column a; " * 30
        assert translated(text) == text
    finally:
        use_language(None)


def test_no_error_is_japanese_by_half(workspace: Path) -> None:
    assert run(workspace, "vault", "undo").err == (
        "エラー: 取り消せる書き込みがありません [not_found]\n"
    )
    use_language(JAPANESE)
    try:
        for text in ("there is no rule to bend", "no reader has seen the note"):
            assert translated(text) == text
        assert translated("note: no reader has seen the note") == "注: no reader has seen the note"
    finally:
        use_language(None)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("piplines: {}", "piplines: そのような設定はありません。'pipelines' のことですか"),
        ("traces: {keep: 0}", "traces.keep: は 1 以上でなければなりません（0 でした）"),
        (
            "roots: {manuals: ''}",
            "roots.manuals: 空です。'manuals' のようなフォルダを指定してください",
        ),
    ],
)
def test_an_error_of_a_file_has_its_line_at_the_end(
    tmp_path: Path, written: str, told: str
) -> None:
    write(tmp_path, {"m/a.md": "# A\n"})
    (tmp_path / "fumishirube.yaml").write_text(written, encoding="utf-8")
    assert run(tmp_path, "ls").err == f"設定の誤り: {told}（fumishirube.yaml 1 行目）\n"
