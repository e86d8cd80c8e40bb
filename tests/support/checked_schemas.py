"""A schema that was right once in this process is not checked again.

Each session of the SDK's client holds the output schema of each tool that it calls against JSON
Schema's own, which takes longer than starting the server; and thousands of sessions get the same.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

_check = Draft202012Validator.check_schema


@cache
def _checked(text: str) -> None:
    _check(json.loads(text))


def remember_checks() -> None:
    """Let the validator that clients take by default look at each different schema once."""

    def check_schema(schema: Any, *arguments: Any, **named: Any) -> None:
        if arguments or named:
            _check(schema, *arguments, **named)
        else:
            _checked(json.dumps(schema))

    Draft202012Validator.check_schema = staticmethod(check_schema)
