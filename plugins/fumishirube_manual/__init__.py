"""The surface ``manual``: the tools over manuals."""

from fumishirube import Command, CommandRegister, DefaultRegister, Surface, hook
from fumishirube_manual.surface import ManualSurface


@hook
def register_surfaces(register: DefaultRegister[Surface]) -> None:
    """Register the surface ``manual``."""
    register("manual", ManualSurface, default=True)


_COMMANDS = {
    "find": (
        "search the manuals, and show the best sections with citations",
        "fumishirube find '入院給付金の請求期限は？' --manual 給付金編",
    ),
    "grep": (
        "show every line that contains a text, by file and section",
        "fumishirube grep '30 days' '30日' --count",
    ),
    "ls": (
        "list the manuals, or the content of one",
        "fumishirube ls 業務ハンドブック/経費",
    ),
    "toc": (
        "show the files of a manual, and their headings",
        "fumishirube toc 給付金編 --deep --prefix 09_請求手続.txt",
    ),
    "read": (
        "read one section",
        "fumishirube read 'manual://field-guide/power.md#L1'",
    ),
    "scan": (
        "read a file page by page, from any line",
        "fumishirube scan reference sensors.json --line 20",
    ),
    "coverage": (
        "show what a past search covered, and what is still unread",
        "fumishirube coverage 7b017120588e43d2a1c4f578d582c42e",
    ),
    "cite": (
        "check whether citations still hold, in the notes of the vault or elsewhere",
        "fumishirube cite check notes.md",
    ),
}
"""What each command does, and an example; its module has its name."""


@hook
def register_commands(register: CommandRegister) -> None:
    """Register the commands that list, find, read and check."""
    for name, (text, example) in _COMMANDS.items():
        register(Command(name, text, f"{__name__}.commands.{name}", example))
