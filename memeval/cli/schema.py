"""``memeval schema``: the format of probe files, for editors that complete and check."""

from __future__ import annotations

import argparse
import json

from memeval.cli import options
from memeval.cli.console import say, show
from memeval.cli.files import SCHEMA, check_target
from memeval.cli.forms import show_json

HELP = "the format of probe files as a JSON Schema, for editors"
DESCRIPTION = """\
Print a JSON Schema (draft 2020-12) of the probe files, made from the code that
reads them. Editors complete and check with it; for most of them this comment at
the top of a probe file is enough:
  # yaml-language-server: $schema=memeval.schema.json"""
EXAMPLE = "memeval schema --out memeval.schema.json"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("--out", metavar="FILE", help="write it there (default: to stdout)")
    options.add_words(parser)


def execute(args: argparse.Namespace) -> int:
    """Print the schema, or write it and print the path; always 0."""
    from memeval.atomic import write_whole
    from memeval.probefiles.jsonschema import probe_schema

    schema = probe_schema()
    if args.out is None:
        show_json(schema)
        return 0
    path = check_target(args.out, SCHEMA)
    write_whole(path, json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
    show(str(path))
    say(
        f"put '# yaml-language-server: $schema={path}' at the top of a probe file", quiet=args.quiet
    )
    return 0
