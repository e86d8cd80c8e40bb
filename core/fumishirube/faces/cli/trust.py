"""``fumishirube trust``: allow paths outside a workspace, until its configuration changes."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from fumishirube.config.trust import TrustedMatter, record_trust
from fumishirube.faces.cli.output import print_json
from fumishirube.faces.cli.parser import add_json
from fumishirube.faces.cli.workspace import opened
from fumishirube.host.application import Application


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("--remove", action="store_true", help="trust the workspace no longer")
    add_json(parser)


def run(options: Namespace) -> int:
    """Record trust in the user's own configuration, or revoke it, and print for what."""
    with opened(options, empty=True, trusted=True) as application:
        matters = [] if options.remove else [*application.outside]
        trust_workspace(application, matters)
    if options.json:
        print_json({"trusted": [matter._asdict() for matter in matters]})
        return 0
    for matter in matters:
        print(f"trusted: {matter}: {matter.target}")
    if options.remove:
        print("what leads out of this workspace is not trusted")
    elif matters:
        print("this holds until the configuration or a target changes")
    else:
        print("nothing leads out of this workspace; there is nothing to trust")
    return 0


def trust_workspace(application: Application, matters: list[TrustedMatter]) -> None:
    """Record that the user trusts these targets of a workspace."""
    record_trust(application.loaded.trust, matters, os.environ)
