"""`python -m bench [NAME ...] [--long] [--only PART]`: measure, write it down, renew the page."""

import argparse
import importlib

from rich.console import Console

from bench import table
from bench.harness import Sheet

NAMES = (
    "start",
    "noise",
    "theory",
    "ledger",
    "accounting",
    "ask",
    "scaling",
    "engines",
    "errors",
    "timing",
    "local",
    "audited",
)


def main() -> None:
    """Run the benchmarks named, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(NAMES)}")
    parser.add_argument("--long", action="store_true", help="also what takes many minutes")
    parser.add_argument("--only", metavar="PART", help="one part of a benchmark that has parts")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are: {', '.join(NAMES)}")

    console = Console()
    for name in options.names or NAMES:
        console.rule(name)
        sheet = Sheet(name, console)
        part = {} if options.only is None else {"only": options.only}
        importlib.import_module(f"bench.{name}").run(sheet, long=options.long, **part)
        console.print(f"written: {sheet.write()}")
    console.print(f"written: {table.write()}")


if __name__ == "__main__":
    main()
