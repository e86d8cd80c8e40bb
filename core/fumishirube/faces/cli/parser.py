"""The argument parser, with suggestions for typing errors; converters of arguments."""

from __future__ import annotations

import sys
from argparse import (
    SUPPRESS,
    Action,
    ArgumentError,
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    RawDescriptionHelpFormatter,
    _SubParsersAction,
)
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from fumishirube.errors import NotFound, did_you_mean
from fumishirube.faces.cli.common_options import add_common
from fumishirube.faces.cli.exit_codes import USAGE_ERROR
from fumishirube.faces.cli.messages import translated, translated_sentence
from fumishirube.faces.cli.output import clipped, complain, width
from fumishirube.plugins.commands import OWN_COMMANDS
from fumishirube.text.folding import nfc

COMMANDS = {command.name: command for command in OWN_COMMANDS}
"""The modules of the framework's own commands, by command."""
_HIGHEST = 10**18
_SHOWN = 20


class Parser(ArgumentParser):
    """An argument parser that suggests the nearest option or command."""

    def __init__(self, **settings: Any) -> None:
        self.inner: list[str] = []
        self._words: Sequence[str] = ()
        settings.setdefault("formatter_class", HelpFormatter)
        super().__init__(allow_abbrev=False, **settings)
        self.register("action", "parsers", _Subcommands)

    @property
    def actions(self) -> Sequence[Action]:
        """The arguments, in the order in which they were added."""
        return self._actions

    @property
    def known(self) -> Sequence[str]:
        """The options of the parser, of its groups, and the ``inner`` ones of its subcommands."""
        own = [option for action in self._actions for option in action.option_strings]
        return own + self.inner

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse known arguments, and remember the words for error messages."""
        self._words = args
        return super().parse_known_args(args, namespace)

    def parse(self, words: Sequence[str]) -> Namespace:
        """Return the options, or end the process with one line about the error."""
        options = Namespace()
        _, rest = self.parse_known_args(list(words), options)
        if rest:
            parser: Parser = getattr(options, "parser", self)
            parser.refuse_options(rest)
            parser._continue_list(options, rest)
        return options

    def _continue_list(self, options: Namespace, rest: list[str]) -> None:
        """Add words to the list that options divided; end the process if they are of no list."""
        typed = rest[: rest.index("--")] if "--" in rest else rest
        words = [*typed, *rest[len(typed) + 1 :]]
        last = next((each for each in reversed(self._actions) if not each.option_strings), None)
        odd = [word for word in typed if word.startswith("-")]
        adding = [self._registry_get("action", name) for name in ("store", "extend")]
        if odd or last is None or type(last) not in adding or last.nargs not in ("*", "+"):
            self.error(f"unexpected argument {(odd or rest)[0]!r}")
        try:
            values = [self._get_value(last, word) for word in words]
            for value in values:
                self._check_value(last, value)
        except ArgumentError as error:
            self.error(str(error))
        setattr(options, last.dest, [*getattr(options, last.dest), *values])

    def _match_arguments_partial(self, actions: Sequence[Action], arg_strings_pattern: str) -> Any:
        # An argument that may be left out may follow an option; argparse would take it as empty.
        counts: list[int] = super()._match_arguments_partial(actions, arg_strings_pattern)
        if not arg_strings_pattern[sum(counts) :].startswith("O"):
            return counts
        return counts[: max((place for place, count in enumerate(counts, 1) if count), default=0)]

    def command_in(self, words: Sequence[str]) -> str | None:
        """Return the first word that is neither an option nor the value of one."""
        actions = (action for action in self._actions if action.nargs != 0)
        valued = {option for action in actions for option in action.option_strings}
        rest = iter(words)
        for word in rest:
            if word in valued:
                next(rest, None)
            elif not word.startswith("-"):
                return word
        return None

    def lacks(self, words: Sequence[str]) -> bool:
        """Tell whether the words have an option that is unknown here, or ask for help."""
        options = words[: words.index("--")] if "--" in words else words
        names = [word.partition("=")[0] for word in options if word.startswith("-")]
        return any(name in _HELP or name not in self.known for name in names)

    def error(self, message: str) -> NoReturn:
        """End the process with one line; an unknown option is reported before other errors."""
        self.refuse_options(self._words)
        complain(f"{self.prog}: {message}; see {self.prog} --help")
        sys.exit(USAGE_ERROR)

    def refuse_options(self, words: Iterable[str]) -> None:
        """End the process if one of the words is an unknown option."""
        for word in words:
            if word == "--":
                return
            name = word.partition("=")[0]
            if name.startswith("--") and name not in self.known:
                self.refuse_word("option", name, self.known)

    def refuse_word(self, what: str, word: str, known: Iterable[str]) -> NoReturn:
        """End the process with a line that names the nearest word."""
        complain(f"{self.prog}: {not_known(what, word, known)}")
        sys.exit(USAGE_ERROR)


class _Subcommands(_SubParsersAction):  # type: ignore[type-arg] # it takes none at run time
    """Keeps the folders that are named before a command beside those after it."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option: str | None = None
    ) -> None:
        before = getattr(namespace, "folders", None) or []
        namespace.folders = None
        super().__call__(parser, namespace, values, option)
        namespace.folders = [*before, *(namespace.folders or ())]


def add_subcommand(
    inner: _SubParsersAction[Any],
    name: str,
    run: Callable[[Namespace], int],
    help_text: str,
    *,
    prints_json: bool = True,
) -> Parser:
    """Add a subcommand with the common options and ``--json``, and return its parser."""
    description = f"{help_text[0].upper()}{help_text[1:]}."
    added: Parser = inner.add_parser(name, help=help_text, description=description)
    add_common(added, default=SUPPRESS)
    if prints_json:
        add_json(added)
    added.set_defaults(run=run, parser=added)
    return added


_HELP = ("-h", "--help")


def add_json(parser: ArgumentParser) -> None:
    """Add ``--json``, as every command with results has it, before its own commands too."""
    parser.add_argument("--json", action="store_true", default=SUPPRESS, help="print JSON")


@dataclass(frozen=True)
class OneOf:
    """A converter for one of a few words, which suggests the nearest."""

    what: str
    words: tuple[str, ...]

    def __call__(self, word: str) -> str:
        """Return the word, if it is one of them."""
        if word not in self.words:
            raise ArgumentTypeError(not_known(self.what, word, self.words))
        return word


def one_of(what: str, *words: str) -> OneOf:
    """Return a converter for one of a few words; shells complete them."""
    return OneOf(what, words)


def at_least(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a converter for whole numbers from a lower bound on, and to an upper one if given."""
    highest = _HIGHEST if most is None else most

    def convert(word: str) -> int:
        shown = word if len(word) <= _SHOWN else f"{word[:_SHOWN]}…"
        digits = word.isascii() and word.isdigit()
        # int() refuses thousands of digits.
        if digits and (len(word) > _SHOWN or int(word) > highest):
            raise ArgumentTypeError(f"expected a whole number of at most {highest}, got {shown!r}")
        if not digits or int(word) < least:
            raise ArgumentTypeError(f"expected a whole number from {least} on, got {shown!r}")
        return int(word)

    return convert


def literal_help(action: Action, text: str | None = None) -> str:
    """Return an argument's help, or its translation, in which every ``%`` can be filled."""
    text = action.help or "" if text is None else text
    try:
        text % {**vars(action), "prog": ""}
    except (KeyError, TypeError, ValueError):  # a plugin may mean the sign itself
        return literal(text)
    return text


def literal(text: str) -> str:
    """Return a help text in which argparse takes no ``%`` for the beginning of a placeholder."""
    return text.replace("%", "%%")


def not_known(what: str, word: str, known: Iterable[str]) -> str:
    """Return a message about an unknown word, with the nearest word or the list of all."""
    return f"there is no {what} {word[:60]!r}; {did_you_mean(word, known)}"


def suggest(what: str, word: str, known: Mapping[str, Any] | list[str]) -> NotFound:
    """Return a message about an unknown name, with the nearest one."""
    missing, hint = f"there is no {what} {word[:80]!r}", did_you_mean(nfc(word), known, "")
    return NotFound(f"{missing}; {hint}" if hint else missing)


class HelpFormatter(RawDescriptionHelpFormatter):
    """Translates what argparse formats, and breaks lines by columns instead of characters."""

    def add_usage(
        self, usage: str | None, actions: Iterable[Action], groups: Any, prefix: str | None = None
    ) -> None:
        """Add the usage with its heading."""
        super().add_usage(
            usage, actions, groups, translated("usage: ") if prefix is None else prefix
        )

    def start_section(self, heading: str | None) -> None:
        """Begin a section with its heading."""
        super().start_section(translated(heading) if heading else heading)

    def add_text(self, text: str | None) -> None:
        """Add a description."""
        super().add_text(translated_sentence(text) if text else text)

    def _get_help_string(self, action: Action) -> str | None:
        return literal_help(action, translated(action.help)) if action.help else action.help

    def _split_lines(self, text: str, width: int) -> list[str]:
        lines = super()._split_lines(text, width)
        return lines if text.isascii() else [*_by_columns(" ".join(lines), width)]


def _by_columns(text: str, columns: int) -> Iterable[str]:
    """Yield the lines of a text in which a character may take two columns, and spaces are rare."""
    while width(text) > columns:
        line = clipped(text, columns).removesuffix("…") or text[:1]
        yield line
        text = text[len(line) :].lstrip()
    yield text
