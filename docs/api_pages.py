"""The pages of the reference about the public API, one a group, from the code."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from textwrap import indent
from types import ModuleType
from typing import Any

from pydantic import BaseModel

MODULES = (
    "fumishirube",
    "fumishirube.text",
    "fumishirube.disk",
    "fumishirube.tools",
    "fumishirube.parsing",
    "fumishirube.agreed_names",
)

GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "api-stages": (
        "Stages: what a plugin registers, and what a search passes to it",
        ("stages", "query", "budget", "model", "engine", "plugins", "traces", "agreed_names"),
    ),
    "api-corpus": (
        "Corpus: documents, clauses, and queries of stages",
        ("corpus", "corpus_kinds", "documents"),
    ),
    "api-tools": (
        "Tools: surfaces, their tools, resources and prompts",
        ("surfaces", "tools"),
    ),
    "api-parsing": (
        "Parsing: places such as pages, their pictures, and processes for parsers",
        ("parsing", "pictures", "places"),
    ),
    "api-text": ("Text: encodings, folding, forms, concepts, references", ("text",)),
    "api-disk": ("Disk: roots, names, locks, watches and writes", ("disk",)),
    "api-errors": ("Errors: what to raise, and which code it answers with", ("errors",)),
}

FURTHER: Mapping[str, tuple[str, str]] = {
    "api-testing": (
        "Testing: the contract of each kind, for the tests of a plugin to inherit",
        "fumishirube.testing",
    ),
    "api-commands": (
        "Commands: their parser, the opened application, and their output",
        "fumishirube.commands",
    ),
    "api-serving": (
        "Serving: the application, its calls, its catalog, and its log",
        "fumishirube.serving",
    ),
}
"""A page for each module of one purpose: its names that no other module has."""

SERVING = "api-serving"
RESULTS_HEAD = "## Types of results and fields\n\nNothing has to import them."

RESULTS = (
    "corpus_kinds.EmbeddingProgress",
    "corpus_kinds.SimilarSection",
    "disk.survey.Survey",
    "engine.rankings.FusedHit",
    "host.catalog.Catalog",
    "model.SearchReport",
    "model.UnreadFiles",
    "surfaces.SearchResult",
    "surfaces.SurfaceFiles",
    "text.encoding.LossyText",
    "text.query_concepts.Chunk",
    "text.references.ReferenceMatch",
    "text.references.ResolvedReference",
    "traces.records.Origin",
)
"""Types of results and fields; a plugin reads their objects, and imports none of them."""

EXAMPLES = {
    "chunks": "[chunk.text for chunk in chunks(fold('休暇の申請'))]",
    "clean_name": "clean_name('handbook', 'manual_id')",
    "clean_new_path": "clean_new_path('notes/plan.md')",
    "clean_path": "clean_path('guide/./api.md')",
    "concepts": "[concept.text for concept in concepts('solar vs grid power')]",
    "content_hash": "content_hash(b'text')[:12]",
    "decode": "decode('目次'.encode('cp932'))",
    "decode_lossy": "decode_lossy(b'ab\\xff').text",
    "decode_with_encoding": "decode_with_encoding('目次'.encode('cp932')).encoding",
    "divide_at_headings": (
        "[section.title for section in"
        " divide_at_headings('# A\\nx\\n', [Heading('A', 1, 1, 2)], 'file')]"
    ),
    "estimate_tokens": "estimate_tokens('two words')",
    "fitting": "list(fitting([1, 2]))",
    "fold": "fold('ＡＢＣ')",
    "form_of": "form_of('休 暇', LOOSE)",
    "fused_ranking": "fused_ranking([], []).hits",
    "form_finder": "form_finder(SequenceCorpus(), 'sensor') is None  # matched literally",
    "is_cjk": "is_cjk('暇')",
    "is_hiragana": "is_hiragana('の')",
    "is_unspaced": "is_unspaced('휴')",
    "is_worded": "is_worded('word;')",
    "is_function": "is_function('の')",
    "is_below": "is_below('guide/api.md', 'guide/a*')",
    "is_part_of_terms": "is_part_of_terms('税', SequenceCorpus())",
    "is_settled": "is_settled(0, looked_ns=10**12)",
    "is_unfinished": "is_unfinished('plan.md')",
    "joined_terms": "joined_terms('abort signal', SequenceCorpus(), lambda words: False)",
    "letter_named": "letter_named('ohm')",
    "letter_names": "letter_names('μ')",
    "link_levels": "list(link_levels(['a.md'], 1, lambda path: []))",
    "merge_rankings": "merge_rankings([], 60)",
    "nfc": "nfc('か\\u3099')",
    "occurrences": "occurrences('red red', 'red')",
    "mentions": "mentions('wind sensors', 'sensor')",
    "synonyms_in": "synonyms_in('The red car', {'car': ('auto', 'vehicle')})",
    "replace_synonyms": "replace_synonyms('The red car', [Synonyms('car', ('auto',))])",
    "term_forms": "term_forms('wind sensor')",
    "occurs": "occurs('bluebird', 'blue')",
    "printable": "printable('red\\x1b[0m')",
    "printable_json": "printable_json('\"red\\u202e\"')",
    "places_of": "places_of(['fee', '料金'], 'Fees と料金')",
    "project": "project('休 暇', LOOSE).text",
    "query_terms": "query_terms(SequenceCorpus(), '休暇の申請')",
    "written_beside": "sorted(written_beside(SequenceCorpus(), 'pay leave', {'leave', 'visa'})[1])",
    "written_terms": "written_terms(SequenceCorpus(), '休暇 leave')[0]",
    "rarity": "round(rarity(100, 3), 2)",
    "reading": "reading('5 秒').spans('約５秒')",
    "reading_form": "reading_form('ＡＢＣ')",
    "runs": "[run[0] for run in runs('休暇 leave')]",
    "runs_and_words": "runs_and_words('休暇 leave')",
    "unseen_character": "unseen_character('plan\\u200b.md')",
    "unify_line_ends": "unify_line_ends('a\\r\\nb')",
    "without_unseen": "without_unseen('plan\\u200b.md')",
    "wraps": "wraps('run cargo', 'fix to apply'), wraps('## Cargo', 'It is a tool.')",
    "words": "[word for word, _ in words('solar power')]",
}
"""An example expression for each pure function; the page shows its value."""

ACTS = {
    "install_command": "raise ConfigError(f\"run: {install_command('http')}\")",
    "replace_file": "replace_file(file, text.encode(), durable=True)",
    "DerivedDatabase": """seen = "CREATE TABLE IF NOT EXISTS seen (path TEXT)"
base = DerivedDatabase(context.folder("state"), "seen.db", seen, pragmas=["synchronous = OFF"])
paths = base.use(lambda opened: opened.execute("SELECT path FROM seen").fetchall())""",
    "made_folder": 'made_folder(context.folder("state").folder_below("counts")) / "counts.db"',
    "open_own": "handle = open_own(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)",
    "read_own": "content = read_own(file, 1024 * 1024)",
    "refuse_link": "refuse_link(folder)  # an OSError if it is one",
    "take_lock": "take_lock(handle, seconds=1.0)  # False: another process has it",
    "texts_of": "for passage_text in texts_of(corpus):\n    ...",
    "hook": "@hook\ndef register_refiners(register: Register[Refiner]) -> None:\n"
    '    register("recent", Recent)',
}
"""Examples that depend on the machine or on a corpus; they are shown, not run."""


_NONE = object()


def api_pages() -> dict[str, str]:
    """Return a page for each group; every public name is on exactly one page."""
    pages: dict[str, list[str]] = {name: [f"# {title}"] for name, (title, _) in GROUPS.items()}
    for module in map(importlib.import_module, MODULES):
        origins = _origins(module)
        for name in module.__all__:
            home = origins.get(name, module.__name__)
            group = next(g for g, (_, parts) in GROUPS.items() if home.split(".")[1] in parts)
            pages[group].append(_entry(module, importlib.import_module(home), name))
    listed = {name for module in map(importlib.import_module, MODULES) for name in module.__all__}
    for page, (title, path) in FURTHER.items():
        module = importlib.import_module(path)
        origins = _origins(module)
        pages[page] = [f"# {title}", _doc(module) if "\n" in _doc(module) else ""]
        for name in sorted({*module.__all__} - listed):
            home = importlib.import_module(origins.get(name, module.__name__))
            pages[page].append(_entry(module, home, name))
        listed.update(module.__all__)
    for path in RESULTS:
        page = next((g for g, (_, parts) in GROUPS.items() if path.split(".")[0] in parts), SERVING)
        home, _, name = path.rpartition(".")
        value = getattr(importlib.import_module(f"fumishirube.{home}"), name)
        pages[page] += [*([] if RESULTS_HEAD in pages[page] else [RESULTS_HEAD]), f"### `{name}`"]
        pages[page] += [_doc(value), *_fields(value), *_methods(value)]
    return {f"{name}.md": "\n\n".join(filter(None, parts)) + "\n" for name, parts in pages.items()}


def _origins(module: ModuleType) -> dict[str, str]:
    """Return the defining module of each name that a public module imports."""
    return {
        alias.name: node.module or ""
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _entry(module: ModuleType, home: ModuleType, name: str) -> str:
    value = getattr(module, name)
    parts = [f"## `{name}`", f"`from {module.__name__} import {name}`"]
    if inspect.isclass(value):
        parts += [_doc(value), *_inherited(value), *_fields(value), *_methods(value)]
    elif callable(value) and hasattr(value, "__doc__") and not _is_alias(value):
        shown = inspect.unwrap(value)
        if inspect.isfunction(shown):
            parts.append(_fenced("python", f"{name}{_signature(shown)}"))
        parts.append(_doc(value))
    else:
        parts.append(_doc_beside(home, name) or f"`{_plain(_assigned(home, name))}`")
    return "\n\n".join([*filter(None, parts), *_example(name)])


def _is_alias(value: object) -> bool:
    return type(value).__module__ in {"collections.abc", "typing", "types"}


def _example(name: str) -> Iterator[str]:
    if name in EXAMPLES:
        scope: dict[str, Any] = {}
        for public in map(importlib.import_module, MODULES):
            scope |= {key: getattr(public, key) for key in public.__all__}
        result = eval(EXAMPLES[name], scope)  # noqa: S307 - the expressions above
        yield _fenced("python", f">>> {EXAMPLES[name]}\n{result!r}")
    elif name in ACTS:
        yield _fenced("python", ACTS[name])


def _fields(kind: type) -> Iterator[str]:
    what, rows = "", list[tuple[str, object, object]]()
    if issubclass(kind, BaseModel):
        what = "a model"
        for name, field in kind.model_fields.items():
            default = _NONE if field.is_required() else field.get_default(call_default_factory=True)
            rows.append((name, field.annotation, default))
    elif dataclasses.is_dataclass(kind):
        what = "a dataclass"
        rows = [(f.name, f.type, _default(f)) for f in dataclasses.fields(kind) if f.init]
    elif hasattr(kind, "_fields"):
        what, defaults = "a named tuple", kind._field_defaults
        rows = [(n, kind.__annotations__.get(n, ""), defaults.get(n, _NONE)) for n in kind._fields]
    rows = [row for row in rows if not row[0].startswith("_")]
    if rows:
        cells = [
            f"| `{name}` | {_cell(str(hint))} | {'' if value is _NONE else _cell(repr(value))} |"
            for name, hint, value in rows
        ]
        head = [f"| field of {what} | type | default |", "| --- | --- | --- |"]
        yield "\n".join([*head, *cells])


def _default(field: dataclasses.Field[Any]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return _NONE if field.default is dataclasses.MISSING else field.default


def _cell(text: str) -> str:
    text = "…" if " at 0x" in text else _plain(text)
    return "`" + text.replace("|", "\\|") + "`"


def _methods(kind: type) -> Iterator[str]:
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        function = getattr(member, "__func__", getattr(member, "fget", member))
        if not inspect.isfunction(function) or not function.__doc__:
            continue
        signature = "" if isinstance(member, property) else _signature(function)
        word = "async " if inspect.iscoroutinefunction(function) else ""
        _, *further = (inspect.getdoc(function) or "").split("\n\n")
        said = [f"* `{word}{name}{signature}`: {first_sentences(function)}"]
        yield "\n\n".join([*said, *(indent(paragraph, "  ") for paragraph in further)])


def _inherited(kind: type) -> Iterator[str]:
    """Yield from which public ones a class derives; their members are with them."""
    paths = (*MODULES, *(path for _, path in FURTHER.values()))
    public = {name for module in map(importlib.import_module, paths) for name in module.__all__}
    bases = [f"`{base.__name__}`" for base in kind.__bases__ if base.__name__ in public]
    if bases:
        yield f"It derives from {' and '.join(bases)}."


def _signature(function: Callable[..., Any]) -> str:
    return _plain(str(inspect.signature(function)).replace("'", ""))


def _plain(text: str) -> str:
    text = re.sub(r"<class '([\w.]+)'>", r"\1", text)
    text = re.sub(r"ForwardRef\([\"'](.*?)[\"']\)", r"\1", text)
    text = re.sub(r" at 0x[0-9a-f]+|~(?=[A-Z])", "", text)
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", text)


def first_sentences(value: object) -> str:
    """Return the first paragraph of a docstring, in one line."""
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


def _doc(value: object) -> str:
    text = inspect.getdoc(value) or ""
    return text if "::\n" in text or "Raises:" in text else _without_noise(text)


def _without_noise(text: str) -> str:
    return "" if text.startswith("Usage docs:") else text


def _assigned(home: ModuleType, name: str) -> str:
    for node in ast.parse(inspect.getsource(home)).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return ast.unparse(node.value)  # type: ignore[attr-defined]
    return repr(getattr(home, name))


def _doc_beside(home: ModuleType, name: str) -> str:
    """Return the string literal after the assignment of a name."""
    body = ast.parse(inspect.getsource(home)).body
    for node, following in pairwise(body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            match following:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    return text
    return ""


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"
