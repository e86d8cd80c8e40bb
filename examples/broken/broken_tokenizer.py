"""A plugin that loads, but whose tokenizers fail."""

from collections.abc import Sequence

from fumishirube import Clause, Everything, Register, Stage, Tokenizer, hook


class Raising(Stage):
    """Raises."""

    def terms(self, text: str) -> Sequence[str]:
        raise RuntimeError("this tokenizer always fails")

    def narrow(self, text: str) -> tuple[Clause, bool]:
        return Everything(), False


class Wordless(Raising):
    """Returns something else than terms."""

    def terms(self, text: str) -> Sequence[str]:
        return [None]  # type: ignore[list-item]


@hook
def register_tokenizers(register: Register[Tokenizer]) -> None:
    register("failing-tokenizer", Raising)
    register("wordless-tokenizer", Wordless)
