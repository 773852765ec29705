"""The parser of the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from memeval.checks.kinds import nearest
from memeval.cli import (
    accept,
    add,
    check_store,
    compare,
    control,
    convert,
    env,
    evaluate,
    history,
    init,
    lint,
    mutate,
    notebook,
    report,
    run,
    runs,
    schema,
    serve,
    simulate,
)
from memeval.cli.console import say, show

VERBS: dict[str, ModuleType] = {
    "init": init,
    "control": control,
    "run": run,
    "report": report,
    "mutate": mutate,
    "simulate": simulate,
    "compare": compare,
    "accept": accept,
    "evaluate": evaluate,
    "serve": serve,
    "check-store": check_store,
    "convert": convert,
    "lint": lint,
    "add": add,
    "notebook": notebook,
    "history": history,
    "runs": runs,
    "schema": schema,
    "env": env,
}
# What verbs take beside options.
TAKES = {
    "report": "[BASELINE.json] [RUN.json] ",
    "simulate": "[SIMULATION.json] ",
    "compare": "[BASELINE] [CURRENT] ",
    "accept": "[RUN|RESULTS] --reason TEXT ",
    "evaluate": "REQUEST.json ",
    "notebook": "list|copy|open [NAME] [DEST] ",
    "history": "[RESULTS.json] ",
    "init": "[DIR] ",
    "runs": "[FOLDER] ",
}
_EPILOG = """\
Start with 'memeval control': it says whether the probes can measure anything.
'memeval VERB --help' tells the options of a verb and ends with an example.

Exit codes: 0 good, 1 a verdict said no, 2 could not run (usage, file, store),
3 cannot tell (compare --strict), 4 the suite is invalid, 5 not comparable,
130 interrupted."""


class Parser(argparse.ArgumentParser):
    """Says what was found, and what is nearest to it, on one line after the usage."""

    def error(self, message: str) -> NoReturn:
        """Print usage and message; exit 2."""
        self.print_usage(sys.stderr)
        say(f"{message}; '{self.prog} --help' tells more")
        raise SystemExit(2)


def build() -> Parser:
    """Make the parser of all verbs."""
    parser = Parser(
        prog="memeval",
        description="Does an agent's memory bring back what it must, and never what it must not?",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    parser.set_defaults(execute=_no_verb, quiet=False, traceback=False, parser=parser)
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", dest="verb", parser_class=Parser)
    for name, module in VERBS.items():
        verb = verbs.add_parser(
            name,
            usage=f"memeval {name} {TAKES.get(name, '')}[option ...]",
            help=module.HELP,
            description=module.DESCRIPTION,
            epilog=f"Example:\n  {module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_options(verb)
        verb.set_defaults(execute=module.execute, parser=verb)
    return parser


def parse(parser: Parser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse arguments; SystemExit where they cannot be used, with the nearest word that can."""
    verb = next((word for word in argv if not word.startswith("-")), None)
    if verb is not None and verb not in VERBS:
        parser.error(f"found no verb {verb!r}; {nearest(verb, VERBS)}")
    args, unknown = parser.parse_known_args(argv)
    if args.version:
        args.execute = _version
    if unknown:
        known = [o for action in args.parser._actions for o in action.option_strings]
        word = unknown[0].partition("=")[0]
        todo = nearest(word, known) if word.startswith("-") else "leave it out"
        args.parser.error(f"found {unknown[0]!r}, which is no part of this command; {todo}")
    return args


def _version(args: argparse.Namespace) -> int:
    from memeval.environment import tool_version

    show(f"memeval {tool_version()}")
    return 0


def _no_verb(args: argparse.Namespace) -> int:
    args.parser.print_help(sys.stderr)
    return 2
