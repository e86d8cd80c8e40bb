"""Jupyter notebooks: what of them is read, and where they are divided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from manuals import ask, opened, write

from fumishirube import Document, Root, Source, Unreadable
from fumishirube.text.encoding import has_surrogates
from fumishirube_stages.loaders import Notebook
from fumishirube_stages.loaders.markdown_files import headings

STREAM = {"output_type": "stream", "text": ["residual \x1b[31m0.5\x1b[0m\n"]}
RESULT = {"output_type": "execute_result", "data": {"text/plain": "42", "image/png": "iVBOR"}}
CELLS = [
    {"cell_type": "markdown", "source": ["# Fit\n", "\n", "A sigmoid.\n"]},
    {"cell_type": "code", "source": "# no heading\nx = 1", "outputs": [STREAM, RESULT]},
    {"cell_type": "code", "source": "", "outputs": [STREAM]},
    {"cell_type": "markdown", "source": "## Costs\nNone."},
    {"cell_type": "raw", "source": ["as it is"]},
]


def load(folder: Path, content: object, *, outputs: bool = False) -> Document:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "a.ipynb").write_text(text, encoding="utf-8")
    return Notebook(outputs=outputs).load(Root(folder), Source("a.ipynb"))


def test_texts_and_code_are_read_in_their_order(tmp_path: Path) -> None:
    document = load(tmp_path, {"cells": CELLS})
    assert document.text == (
        "# Fit\n\nA sigmoid.\n\n```python\n# no heading\nx = 1\n```\n\n"
        "## Costs\nNone.\n\nas it is\n\n"
    )
    assert [(each.title, each.start_line) for each in document.sections] == [
        ("Fit", 1),
        ("Costs", 10),
    ]


@pytest.mark.parametrize("opens", ["```\nx", "<!-- later", "<script>", "- item\n\n  ~~~"])
def test_what_a_cell_leaves_open_ends_with_it(tmp_path: Path, opens: str) -> None:
    cells = [{"cell_type": "markdown", "source": text} for text in (f"# A\n{opens}", "# B\nx")]
    below = 2 + len(f"# A\n{opens}".split("\n"))
    sections = load(tmp_path, {"cells": cells}).sections
    assert [(each.title, each.start_line) for each in sections] == [("A", 1), ("B", below)]


def test_raw_cells_have_no_headings_and_may_title_the_notebook(tmp_path: Path) -> None:
    raw = {"cell_type": "raw", "source": "---\ntitle: Fits of curves\n# a comment\n---"}
    document = load(tmp_path, {"cells": [raw, {"cell_type": "raw", "source": "# tex"}, *CELLS]})
    assert document.title == "Fits of curves"
    assert [each.title for each in document.sections] == ["Fits of curves", "Fit", "Costs"]


@pytest.mark.parametrize("more", ['"x": NUMBER', '"metadata": {"x": [NUMBER]}'])
def test_numbers_of_thousands_of_digits_are_passed_over(tmp_path: Path, more: str) -> None:
    text = f'{{"cells": {json.dumps(CELLS)}, {more.replace("NUMBER", "-" + "9" * 5_000)}}}'
    assert load(tmp_path, text) == load(tmp_path, {"cells": CELLS})


def test_the_steps_of_all_cells_are_counted_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(headings, "MOST_STEPS", 3_000)
    lists = {"cell_type": "markdown", "source": "- a\n  # b\n" * 200}
    assert load(tmp_path, {"cells": [lists]}).sections
    with pytest.raises(Unreadable) as caught:
        load(tmp_path, {"cells": [lists] * 20})
    assert caught.value.reason == "too_large"


def test_outputs_are_read_when_asked_for_and_pictures_never(tmp_path: Path) -> None:
    text = load(tmp_path, {"cells": CELLS}, outputs=True).text
    assert "```output\nresidual 0.5\n```\n" in text
    assert "```output\n42\n```\n" in text
    assert "iVBOR" not in text


@pytest.mark.parametrize(
    ("about", "language"),
    [
        ({"kernelspec": {"language": "julia"}, "language_info": {"name": "x"}}, "julia"),
        ({"kernelspec": {"name": "ir"}, "language_info": {"name": "R"}}, "R"),
        ({"language_info": {"name": "C++17"}}, "C++17"),
        ({"kernelspec": {"language": "``` x"}, "language_info": 3}, "python"),
    ],
)
def test_the_kernel_names_the_language(tmp_path: Path, about: object, language: str) -> None:
    document = load(tmp_path, {"cells": CELLS, "metadata": about})
    assert f"```{language}\n" in document.text


def test_displayed_markdown_is_read_as_it_is_written(tmp_path: Path) -> None:
    data = {"text/plain": "<IPython.core.display.Markdown object>", "text/markdown": ["**Fits**"]}
    cell = {**CELLS[1], "outputs": [{"output_type": "display_data", "data": data}]}
    text = load(tmp_path, {"cells": [cell]}, outputs=True).text
    assert "```output\n**Fits**\n```\n" in text
    assert "IPython" not in text


@pytest.mark.parametrize("content", ["", "{", "[]", '{"worksheets": []}', '{"cells": [1]}'])
def test_what_is_no_notebook_says_so(tmp_path: Path, content: str) -> None:
    with pytest.raises(Unreadable) as caught:
        load(tmp_path, content)
    assert caught.value.reason == "damaged"


values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)
odd = st.text(st.sampled_from("# \nab=-`\ud83d\ude00é"), max_size=12)
cells = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "cell_type": st.sampled_from(["markdown", "code", "raw"]) | values,
            "source": st.text(max_size=40) | st.lists(st.text(max_size=20)) | odd | values,
            "outputs": st.lists(st.dictionaries(st.sampled_from(["text", "data"]), values))
            | values,
        },
    )
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cells, values)
def test_any_cells_are_read_without_losing_a_text(
    tmp_path: Path, made: list[dict[str, Any]], about: object
) -> None:
    document = load(tmp_path, {"cells": made, "metadata": about}, outputs=True)
    for cell in made:
        source = cell.get("source")
        if isinstance(cell.get("cell_type"), str) and isinstance(source, str) and source.isalnum():
            assert source in document.text
    assert not document.sections or document.sections[-1].end == len(document.text)
    assert not any(
        map(has_surrogates, [document.text, *(each.title for each in document.sections)])
    )


def test_half_an_emoji_in_a_heading_prevents_no_search(tmp_path: Path) -> None:
    cells = [{"cell_type": "markdown", "source": "# Apple \ud83d pie\nflour"}]
    write(tmp_path, {"m/n.ipynb": json.dumps({"cells": cells}), "m/b.md": "# B\nzebra\n"})
    application = opened(tmp_path)
    for word, title in (("zebra", "B"), ("flour", "Apple \ufffd pie")):
        asked = {"manual_id": "m", "query": word, "required_terms": [word]}
        answer = ask(application, "manual_find", **asked)
        assert [hit["title"] for hit in answer["inline_hits"]["items"]] == [title]
    application.close()


def test_notebooks_are_searched_by_default_and_not_with_the_contracts_profile(
    tmp_path: Path,
) -> None:
    write(tmp_path, {"m/a.ipynb": json.dumps({"cells": CELLS}), "m/b.md": "# B\nx\n"})
    for extras, found in ((None, ["a.ipynb"]), ("none", [])):
        application = opened(tmp_path, **({"FUMISHIRUBE_SURFACE_EXTRAS": extras} if extras else {}))
        asked = {"manual_id": "m", "query": "sigmoid", "required_terms": ["sigmoid"]}
        answer = ask(application, "manual_find", **asked)
        assert [hit["ref"]["path"] for hit in answer["inline_hits"]["items"]] == found
        application.close()


def test_lock_files_of_office_programs_are_no_unread_documents(tmp_path: Path) -> None:
    write(tmp_path, {"m/~$a.docx": bytes(9), "m/.~lock.a.odt#": ",", "m/b.md": "# B\nx\n"})
    application = opened(tmp_path)
    assert "unread_files" not in ask(application, "manual_ls", id="m")
    application.close()
