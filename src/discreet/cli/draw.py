"""``discreet draw``: pictures of the theory and of answers."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.typed import typed
from discreet.errors import InvalidInput, InvalidNumber

if TYPE_CHECKING:
    from discreet.pictures import Picture

EPILOG = (
    "Examples:  discreet draw --list  |  discreet draw laplace --scales 1,2,4 --out noise.svg  |  "
    "discreet draw composition --epsilon 0.1 --delta 1e-6 --out composition.png  |  "
    "discreet draw answer --from answer.json --out answer.html"
)

ANSWER = "answer"


@typed
def draw(
    name: Annotated[
        str | None, typer.Argument(help="Which picture; --list shows all, with their options.")
    ] = None,
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to: .svg, .png, .html (a page that loads nothing), .json."),
    ] = None,
    list_them: Annotated[bool, typer.Option("--list", help="Say what can be drawn.")] = False,
    epsilon: Annotated[str | None, typer.Option(help='0.5, 1/10, "ln 3".')] = None,
    epsilons: Annotated[str | None, typer.Option(help='Several: 0.1,1,"ln 3".')] = None,
    scales: Annotated[str | None, typer.Option(help="Scales of noise: 1,2,4.")] = None,
    sensitivity: Annotated[str | None, typer.Option(help="How far one person counts.")] = None,
    observed: Annotated[str | None, typer.Option(help="An output to mark.")] = None,
    counts: Annotated[str | None, typer.Option(help="Numbers released at once: 1,100.")] = None,
    confidence: Annotated[str | None, typer.Option(help="Of the errors shown.")] = None,
    delta: Annotated[str | None, typer.Option(help="What the total epsilon is read at.")] = None,
    queries: Annotated[str | None, typer.Option(help="The most releases.")] = None,
    people: Annotated[str | None, typer.Option(help="How many are asked.")] = None,
    share: Annotated[str | None, typer.Option(help="How many of them would say yes: 0.2.")] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="answer: the JSON of `discreet ask` or `survey estimate`."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="answer: what to write above it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Draw a picture of the theory, or of an answer with its intervals."""
    if list_them:
        _list(as_json=as_json)
        return
    given = {
        "epsilon": epsilon,
        "epsilons": epsilons,
        "scales": scales,
        "sensitivity": sensitivity,
        "observed": observed,
        "counts": counts,
        "confidence": confidence,
        "delta": delta,
        "queries": queries,
        "people": people,
        "share": share,
        "from": None if source is None else str(source),
        "title": title,
    }
    chosen = {option: text for option, text in given.items() if text is not None}
    wanted = _known(name)
    if out is None:
        raise InvalidInput("where should the picture go?", hint=f"--out {wanted}.svg")
    picture = _made(wanted, chosen)
    picture.save(out)
    if as_json:
        typer.echo(json.dumps({"picture": wanted, "title": picture.title, "file": str(out)}))
    else:
        typer.echo(f"{out}: {picture.title}")


def _makers() -> dict[str, Callable[..., Picture]]:
    from discreet.pictures import CATALOGUE

    return {**CATALOGUE, ANSWER: _answer}


def _options(maker: Callable[..., Picture]) -> list[str]:
    return [name.rstrip("_") for name in inspect.signature(maker).parameters]


def _list(*, as_json: bool) -> None:
    found = [
        {
            "picture": name,
            "shows": (inspect.getdoc(maker) or "").partition("\n")[0],
            "options": [f"--{option}" for option in _options(maker)],
        }
        for name, maker in _makers().items()
    ]
    if as_json:
        typer.echo(json.dumps({"pictures": found}))
        return
    width = max(len(name) for name in _makers())
    for each in found:
        typer.echo(f"{each['picture']:<{width}}  {each['shows']}")
        typer.echo(f"{'':<{width}}  {' '.join(each['options'])}")


def _known(name: str | None) -> str:
    names = list(_makers())
    if name in names:
        return str(name)
    near = get_close_matches(str(name), names, n=1)
    said = "which picture?" if name is None else f'there is no picture "{name}".'
    raise InvalidInput(
        f"{said} There are {', '.join(names)}.",
        hint=f"discreet draw {near[0] if near else names[0]} --out {near[0] if near else names[0]}"
        ".svg",
    )


def _made(name: str, chosen: Mapping[str, str]) -> Picture:
    maker = _makers()[name]
    known = _options(maker)
    for option in chosen:
        if option not in known:
            raise InvalidInput(
                f'the picture "{name}" has no --{option}; it has '
                f"{', '.join(f'--{each}' for each in known)}.",
                hint=f"discreet draw {name} --out {name}.svg",
            )
    spelled = {option: _READERS.get(option, _text)(option, text) for option, text in chosen.items()}
    if "from" in spelled:
        spelled["from_"] = spelled.pop("from")
    return maker(**spelled)


def _text(_: str, text: str) -> str:
    return text


def _texts(_: str, text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _whole(option: str, text: str) -> int:
    try:
        return int(text.replace("_", ""))
    except ValueError:
        raise InvalidNumber(
            f"--{option} {text} is not a whole number.", hint=f"--{option} 100"
        ) from None


def _wholes(option: str, text: str) -> list[int]:
    return [_whole(option, part) for part in _texts(option, text)]


_READERS: Mapping[str, Callable[[str, str], Any]] = {
    "epsilons": _texts,
    "scales": _texts,
    "counts": _wholes,
    "queries": _whole,
    "people": _whole,
}


def _answer(*, from_: str | None = None, title: str | None = None) -> Picture:
    """An answer with its intervals, from the JSON of `discreet ask` or `discreet survey`."""
    if from_ is None:
        raise InvalidInput("an answer to draw is needed.", hint="--from answer.json")
    found = _read(Path(from_))
    try:
        if "shares" in found:
            return _shares(found, title)
        return _table(found["columns"], found["rows"], title)
    except (KeyError, TypeError, AttributeError):
        raise InvalidInput(
            f'"{from_}" is not the JSON of an answer.',
            hint="discreet ask '...' --json > answer.json",
        ) from None


def _shares(found: Mapping[str, Any], title: str | None) -> Picture:
    from discreet.pictures import error_bars

    share = "share of the people"
    return error_bars(
        [{**row, share: row["value"]} for row in found["shares"]],
        key="answer",
        value=share,
        low="low",
        high="high",
        title=title or str(found.get("question", "Estimated shares")),
        subtitle="dots are estimates; lines reach as far as their intervals",
        percent=True,
    )


def _table(columns: list[str], rows: list[dict[str, Any]], title: str | None) -> Picture:
    from discreet.pictures import error_bars

    # A number has an interval in some row; a key has none.
    numbers = [name for name in columns if any(row[name].get("low") is not None for row in rows)]
    if not numbers:
        raise InvalidInput("the answer has no number with an interval.", hint="COUNT(*) AS visits")
    value = numbers[0]
    keys = [name for name in columns if name not in numbers]
    key = ", ".join(keys) or "answer"
    plain = [
        {
            key: ", ".join(_said(row[name]["value"]) for name in keys) or value,
            value: row[value]["value"],
            f"{value} from": row[value]["low"],
            f"{value} to": row[value]["high"],
        }
        for row in rows
    ]
    return error_bars(
        plain,
        key=key,
        value=value,
        low=f"{value} from",
        high=f"{value} to",
        title=title or (f"{value} by {key}" if keys else value),
    )


def _said(value: object) -> str:
    return "NULL" if value is None else str(value)


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError):
        found = None
    if not isinstance(found, dict):
        raise InvalidInput(
            f'"{file}" is not a JSON file that can be read.',
            hint="discreet ask '...' --json > answer.json",
        )
    return found
