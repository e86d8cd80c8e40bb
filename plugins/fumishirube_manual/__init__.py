"""The surface ``manual``: the tools over manuals."""

from fumishirube import Command, CommandRegister, DefaultRegister, Surface, hook
from fumishirube_manual.surface import ManualSurface


@hook
def register_surfaces(register: DefaultRegister[Surface]) -> None:
    """Register the surface ``manual``."""
    register("manual", ManualSurface, default=True)


_COMMANDS = (
    Command(
        "find",
        "search the manuals, and show the best sections with citations",
        "fumishirube_manual.commands.find",
        "fumishirube find '入院給付金の請求期限は？' --manual 給付金編",
    ),
    Command(
        "grep",
        "show every line that contains a text, by file and section",
        "fumishirube_manual.commands.grep",
        "fumishirube grep '30 days' '30日' --count",
    ),
    Command(
        "ls",
        "list the manuals, or the content of one",
        "fumishirube_manual.commands.ls",
        "fumishirube ls 業務ハンドブック/経費",
    ),
    Command(
        "toc",
        "show the files of a manual, and their headings",
        "fumishirube_manual.commands.toc",
        "fumishirube toc 給付金編 --deep --prefix 09_請求手続.txt",
    ),
    Command(
        "read",
        "read one section",
        "fumishirube_manual.commands.read",
        "fumishirube read 'manual://field-guide/power.md#L1'",
    ),
    Command(
        "scan",
        "read a file page by page, from any line",
        "fumishirube_manual.commands.scan",
        "fumishirube scan reference sensors.json --line 20",
    ),
    Command(
        "coverage",
        "show what a past search covered, and what is still unread",
        "fumishirube_manual.commands.coverage",
        "fumishirube coverage 7b017120588e43d2a1c4f578d582c42e",
    ),
    Command(
        "cite",
        "check whether citations still hold, in the notes of the vault or elsewhere",
        "fumishirube_manual.commands.cite",
        "fumishirube cite check notes.md",
    ),
)


@hook
def register_commands(register: CommandRegister) -> None:
    """Register the commands that list, find, read and check."""
    for command in _COMMANDS:
        register(command)
