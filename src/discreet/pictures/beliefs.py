"""What an output does to beliefs: the posterior against the prior."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.pictures.picture import Picture, Spec
from discreet.pictures.points import evenly, level, name_of, several, short, shown
from discreet.pictures.style import FAINT, drawn, lines, quantity
from discreet.theory.bayes import posterior
from discreet.theory.losses import Loss
from discreet.theory.randomizers import randomized_response

# Equal steps of the log odds: Bayes' rule bends most where a belief is rare or nearly certain.
_PRIORS = [short(1 / (1 + math.exp(float(-odds)))) for odds in evenly(-7, 7, 84)]


def beliefs(*, epsilons: Sequence[Loss] = ("0.2", "ln 3", "3")) -> Picture:
    """The most that one output can move a belief about a person, for several epsilons.

    The output is a randomized response: no epsilon-private output moves a belief further.

    >>> beliefs(epsilons=[1]).title
    'What one output can make you believe'
    """
    chosen = sorted(
        several(epsilons, name="epsilons", most=4), key=lambda e: -float(level(e, name="epsilons"))
    )
    names = [name_of(epsilon) for epsilon in chosen]
    rows = [
        row for epsilon, name in zip(chosen, names, strict=True) for row in _moved(epsilon, name)
    ]
    prior = quantity("prior", "prior: belief before the output", domain=(0, 1), form=".1f")
    after = "posterior: belief after the output"
    return drawn(
        "What one output can make you believe",
        [
            "solid: the most that an output can raise or lower a belief; thin: nothing learnt",
            "dashed: the bound e^ε times the prior, approached as the prior goes to 0",
        ],
        height=440,
        layer=[
            _diagonal(prior),
            {
                "data": {"values": rows},
                "mark": "line",
                "encoding": {
                    "x": prior,
                    "y": quantity("posterior", after, domain=(0, 1), form=".1f"),
                    "color": lines("epsilon", names, "ε")["color"],
                    "detail": {"field": "output", "type": "nominal"},
                },
            },
            {
                "data": {"values": _bounds(chosen, names)},
                "mark": {"type": "line", "strokeDash": [5, 4], "strokeWidth": 1.5},
                "encoding": {
                    "x": prior,
                    "y": quantity("posterior", after, domain=(0, 1), form=".1f"),
                    "color": lines("epsilon", names, "ε")["color"],
                },
            },
        ],
    )


def _moved(epsilon: Loss, name: str) -> list[Spec]:
    channel = randomized_response(epsilon)
    rows: list[Spec] = []
    for output in ("yes", "no"):
        rows.append({"prior": 0, "posterior": 0, "epsilon": name, "output": output})
        for mass in _PRIORS:
            after = posterior(channel, {"yes": mass, "no": 1 - mass}, output)["yes"]
            rows.append(
                {
                    "prior": shown(mass),
                    "posterior": shown(after),
                    "epsilon": name,
                    "output": output,
                }
            )
        rows.append({"prior": 1, "posterior": 1, "epsilon": name, "output": output})
    return rows


def _bounds(chosen: Sequence[Loss], names: Sequence[str]) -> list[Spec]:
    rows: list[Spec] = []
    for epsilon, name in zip(chosen, names, strict=True):
        end = 1 / float(level(epsilon).exp())
        rows.append({"prior": 0, "posterior": 0, "epsilon": name})
        rows.append({"prior": shown(end), "posterior": 1, "epsilon": name})
    return rows


def _diagonal(prior: Spec) -> Spec:
    return {
        "data": {"values": [{"prior": 0, "posterior": 0}, {"prior": 1, "posterior": 1}]},
        "mark": {"type": "line", "color": FAINT, "strokeWidth": 1},
        "encoding": {"x": prior, "y": {"field": "posterior", "type": "quantitative"}},
    }
