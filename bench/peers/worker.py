"""The worker's end of the pipe: a line of JSON in, a line of JSON out."""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

# A task prepares its work from the options, outside the clock, and returns what is to be timed.
# Work that measures more than its time returns the other figures as a dictionary.
Task = Callable[..., Callable[[], object]]


def repeated(query: Task) -> Task:
    """The task of asking a query many times: the rows of every answer."""

    def answers(runs: int, **options: Any) -> Callable[[], object]:
        work: Callable[[], Any] = query(**options)
        return lambda: {"answers": [work()["rows"] for _ in range(runs)]}

    return answers


def serve(tasks: Mapping[str, Task]) -> None:
    """Answer until the pipe is closed."""
    # The pipe is ours alone: whatever the peer prints goes to standard error.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(reply(tasks, json.loads(line))), file=replies, flush=True)


def reply(tasks: Mapping[str, Task], request: dict[str, Any]) -> dict[str, Any]:
    """Do one task and time it.

    >>> reply({"rest": lambda nights: lambda: nights}, {"task": "sleep"})
    {'error': "no task 'sleep'; there are: rest"}
    """
    name = request.pop("task")
    if name not in tasks:
        return {"error": f"no task {name!r}; there are: {', '.join(sorted(tasks))}"}
    try:
        work = tasks[name](**request)
        start = time.perf_counter()
        figures = work()
        seconds = time.perf_counter() - start
    except Exception as error:  # whatever it is, the asker has to hear of it
        return {"error": f"{type(error).__name__}: {error}"}
    return {"seconds": seconds, **(figures if isinstance(figures, dict) else {})}
