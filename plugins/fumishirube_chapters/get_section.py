"""``get_section``: reads the whole text of a chapter."""

from fumishirube import Answer, Call, Tool
from fumishirube_chapters.arguments import ManualNameParams, SectionId
from fumishirube_chapters.reader import ChapterReader


class GetSectionParams(ManualNameParams):
    """The chapter and its manual."""

    section_id: SectionId


class GetSectionAnswer(Answer):
    """The text of a chapter, with LF for every line end."""

    manual: str
    section_id: str
    title: str
    text: str
    file: str = ""
    encoding: str = ""
    id: str = ""


def get_section_tool(reader: ChapterReader) -> Tool[GetSectionParams, GetSectionAnswer]:
    """Return the tool."""

    def run(params: GetSectionParams, _call: Call) -> GetSectionAnswer:
        manual = reader.library.manual(params.manual_name)
        chapter = manual.chapter(params.section_id)
        document = reader.open(manual, chapter).document
        return GetSectionAnswer(
            manual=params.manual_name,
            section_id=chapter.id,
            title=chapter.title,
            text=document.text,
            file=chapter.file,
            encoding=document.encoding or "",
            id=chapter.id,
        )

    return Tool(
        name="get_section",
        title="Read a chapter",
        summary=(
            "Read one chapter in full, exactly as it stands. Use it before answering from a "
            "chapter; search_text and find_exceptions show only extracts. Costs the whole chapter: "
            "about a token a character in Japanese."
        ),
        params=GetSectionParams,
        answer=GetSectionAnswer,
        run=run,
        http=("GET", "/get_section"),
        examples=({"manual_name": "給付金編", "section_id": "03"},),
    )
