"""``fumishirube trust``: allow paths outside a workspace, until its configuration changes."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from fumishirube.config.trust import record_trust
from fumishirube.faces.cli.exit_codes import OK
from fumishirube.faces.cli.messages import filled, translated
from fumishirube.faces.cli.output import print_json
from fumishirube.faces.cli.parser import add_json
from fumishirube.faces.cli.workspace import opened


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("--remove", action="store_true", help="revoke the trust")
    add_json(parser)


def run(options: Namespace) -> int:
    """Record trust in the user's own configuration, or revoke it, and print for what."""
    with opened(options, empty=True, trusted=True) as application:
        requests = [] if options.remove else [*application.outside]
        record_trust(application.loaded.trust, requests, os.environ)
    if options.json:
        print_json({"trusted": [request._asdict() for request in requests]})
        return OK
    for request in requests:
        print(filled("trusted: {0}: {1}", request, request.target))
    if options.remove:
        print(translated("what leads out of this workspace is not trusted"))
    elif requests:
        print(translated("this holds until the configuration or a target changes"))
    else:
        print(translated("nothing leads out of this workspace; there is nothing to trust"))
    return OK
