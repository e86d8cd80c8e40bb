"""Why files, folders and sections are left out, and what to do about it, in words for people."""

from __future__ import annotations

_MEANINGS = {
    "navigation_file": "a table of contents",
    "undecodable": "no known encoding",
    "too_large": "too large",
    "loader_failed": "its loader failed",
    "empty": "nothing is in them",
    "damaged": "damaged",
    "wrong_type": "their suffix is that of another format",
    "encrypted": "locked by a password",
    "old_format": "in the format of before 2007",
    "needs_ocr": "pictures of pages without text",
    "parser_crashed": "it crashes its parser",
    "parser_timeout": "parsing takes too long",
    "parser_memory": "parsing takes too much memory",
    "pattern_too_slow": "the pattern takes too long",
    "time_budget": "it was not reached yet",
    "heading_only": "no text of their own",
    "excluded_by_trace": "an earlier search returned them",
    "excluded_by_read": "they have been read",
    "symlink": "symbolic links are not followed",
    "pool_full": "there was no room for more",
    "per_file_cap": "better sections of its file were enough",
    "hidden": "hidden by a name that begins with a dot",
    "ignore_rule": "an ignore file leaves them out",
    "no_loader": "no loader reads them",
    "special": "a pipe, a socket or a device",
    "unspeakable": "no path can contain such a name",
    "too_deep": "deeper than limits.depth",
    "forbidden": "the operating system does not open it",
}
AGAIN = "run 'fumishirube index' again later"
_REMEDIES = {
    "forbidden": "check the file and its permissions",
    "time_budget": AGAIN,
    "undecodable": "save it as UTF-8",
    "too_large": (
        "divide it, or raise limits.file_bytes, or its loader's most_bytes, parse_steps or "
        "unpacked_bytes"
    ),
    "loader_failed": "correct the file, or its loader; --verbose shows the error",
    "damaged": "open it in its own program, and save it again",
    "wrong_type": "rename it with the suffix of what it is",
    "encrypted": "save it without a password, or give its loader the password",
    "old_format": "save it in the format of today, such as .docx",
    "parser_crashed": "open it in its own program, and save it again",
    "needs_ocr": "install tesseract and set ocr: true of its loader, or add its text elsewhere",
    "parser_timeout": "divide it, or raise parse_seconds of its loader",
    "parser_memory": "divide it, or raise parse_bytes of its loader",
}
_UNEXPECTED = {
    "forbidden": "let this user read it, or check its disk",
    "special": "move it elsewhere",
    "symlink": "put the file itself there",
    "too_deep": "move it up, or raise limits.depth",
    "unspeakable": (
        "rename it: UTF-8 without control characters, backslashes, spaces around it or a drive"
    ),
}
"""What the operating system or a limit keeps from being listed; the rest is left out on purpose."""
_HARMLESS = frozenset({"navigation_file", "empty"})


def reason_text(reason: str) -> str:
    """Return why a file was skipped, in words for people."""
    return _MEANINGS.get(reason, reason.replace("_", " "))


def remedy_of_skipped(reason: str, citation: str) -> str:
    """Return what to do about a file that could not be read; nothing if that does no harm.

    The reason may be a loader's own: only its message, in an error for the ``citation``, says more.
    """
    says_more = f"'fumishirube read {citation}' says why"
    return "" if reason in _HARMLESS else _REMEDIES.get(reason, says_more)


def remedy_of_unlisted(reason: str) -> str:
    """Return what to do about a file or folder that is not listed; nothing if that is meant."""
    return _UNEXPECTED.get(reason, "")
