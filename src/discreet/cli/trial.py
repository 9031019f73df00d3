"""How a claim is put to the test: the options that every audit by samples shares."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.shown import console

if TYPE_CHECKING:
    from discreet.audit import Report
    from discreet.audit.blackbox import Progress
    from discreet.audit.declared import ModuleReport

STATUS = "Exit status: 0 if nothing is refuted (which is no proof), 1 if something is."


def shown_after(*examples: str, status: str = STATUS) -> str:
    """The end of a command's help: what to type, a line each, and what the exit status says."""
    return "\n\n".join(["Examples:" if examples[1:] else "Example:", *examples, status])


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _claim(*names: str, **about: Any) -> Any:
    return typer.Option(*names, rich_help_panel="The claim", **about)


def _trial(*names: str, **about: Any) -> Any:
    return typer.Option(*names, rich_help_panel="The trial", **about)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """When to stop, how sure to be, and how to tell."""

    samples: Annotated[int, _trial(min=1000, help="The most samples of each input.")] = 10_000_000
    seconds: Annotated[float, _trial(min=0.1, help="When to begin no new round.")] = 60.0
    confidence: Annotated[str, _trial(help="How sure a refutation must be.")] = "0.999"
    as_json: Annotated[bool, _trial("--json", help="Print JSON.")] = False

    @contextmanager
    def limits(self) -> Iterator[dict[str, Any]]:
        """What every audit takes, with a bar on standard error while it lasts."""
        with progress() as bar:
            yield {
                "samples": self.samples,
                "seconds": self.seconds,
                "confidence": self.confidence,
                "progress": bar,
            }

    def show(self, found: Report | ModuleReport) -> None:
        """Print what was found; the exit status says whether something is refuted."""
        typer.echo(json.dumps(found.to_json(), indent=2) if self.as_json else str(found))
        if found.refuted:
            raise typer.Exit(1)


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """A claim about two neighbouring inputs."""

    inputs: Annotated[
        tuple[str, str], _claim(metavar="A B", help="Two neighbours: numbers, JSON, or else text.")
    ]
    epsilon: Annotated[str, _claim(help="The epsilon that is claimed.")]
    delta: Annotated[str, _claim(help="The delta that is claimed.")] = "0"
    group: Annotated[int, _claim(min=1, help="How many people lie between the inputs.")] = 1

    def test(self, function: Callable[[Any, int], Any], trial: Trial, *, read: bool = True) -> None:
        """Try to refute it, and print what was found; ``read`` makes numbers of the inputs."""
        from discreet.audit import Claim, audit

        one, other = (_input(each) if read else each for each in self.inputs)
        claim = Claim(self.epsilon, delta=self.delta, group=self.group)
        with trial.limits() as limits:
            found = audit(function, (one, other), claim, **limits)
        trial.show(found)


def _input(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@contextmanager
def progress() -> Iterator[Progress]:
    """A bar on standard error with the bound so far."""
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    with Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task("looking for an event", total=1.0)
        yield lambda done, told: bar.update(task, completed=done, description=told)
