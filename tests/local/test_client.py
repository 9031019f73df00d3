"""The client in JavaScript computes the same reports as Python, word for word."""

import copy
import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import discreet.local
from discreet.local import (
    Device,
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    Memoized,
    OneBit,
    Piecewise,
    Randomizer,
    Scale,
    SubsetSelection,
    Survey,
    Tally,
    TwoCoins,
    UnaryEncoding,
)
from discreet.local.words import FULL, fresh
from tests.local.fit import ALPHA, chances_of, p_value

CLIENT = Path(discreet.local.__file__).parent / "client" / "discreet-local.mjs"
VECTORS = Path(__file__).parent / "vectors.json"
OLDEST = 20  # the first release of Node whose global crypto is there without a flag

MADE: dict[str, Callable[[], Randomizer]] = {
    "two_coins": TwoCoins,
    "kary": lambda: KaryResponse(size=5, epsilon=1),
    "unary": lambda: UnaryEncoding(size=9, epsilon=1),
    "symmetric_unary": lambda: UnaryEncoding(size=4, epsilon=1, symmetric=True),
    "subset": lambda: SubsetSelection(size=11, epsilon=1),
    "hashing": lambda: LocalHashing(size=1000, epsilon=1),
    "small_hashing": lambda: LocalHashing(size=5, epsilon=1, prime=7, buckets=3),
    "hadamard": lambda: HadamardResponse(size=20, epsilon=1),
    "hadamard_blocks": lambda: HadamardResponse(size=21, epsilon=3),
    "one_bit": lambda: OneBit(size=11, epsilon=1),
    "piecewise": lambda: Piecewise(size=6, epsilon=2, stride=3, window=5),
    "memoized": lambda: Memoized(size=4, epsilon=2, once=1, most_values=2),
    "memoized_unary": lambda: Memoized(size=5, epsilon=2, once=1, encoding="unary"),
}


def survey_of(one: Randomizer) -> Survey:
    if isinstance(one, OneBit | Piecewise):
        return Survey("How many?", randomizer=one, scale=Scale.of(0, one.size - 1, 1))
    return Survey("Which one?", randomizer=one)


class Node:
    def __init__(self, program: str) -> None:
        self.process = subprocess.Popen(
            [program, str(Path(__file__).parent / "client.mjs"), str(CLIENT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, task: str, **options: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"task": task, **options}) + "\n")
        self.process.stdin.flush()
        reply: dict[str, Any] = json.loads(self.process.stdout.readline())
        return reply

    def result(self, task: str, **options: Any) -> Any:
        reply = self.ask(task, **options)
        assert "error" not in reply, reply
        return reply["result"]

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    program = shutil.which("node") or shutil.which("nodejs")
    if program is None:
        pytest.fail(
            f"the client in JavaScript cannot be tested: there is no Node ({OLDEST} or later)."
            "\n\nHint: on Debian or Ubuntu, apt install nodejs"
        )
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    if int(version.stdout.lstrip("v").split(".")[0]) < OLDEST:
        pytest.fail(f"Node {version.stdout.strip()} is too old.\n\nHint: install {OLDEST} or later")
    started = Node(program)
    yield started
    started.close()


def telling_words(one: Randomizer) -> list[int]:
    """Words at the edges of every share, where an error of one would show."""
    edges = [0, FULL]
    for share in one.shares().values():
        unit = int(share * FULL)
        edges += [k * unit for k in range(one.size + 2) if k * unit <= FULL]
        edges += [FULL - unit]
    near = {edge + step for edge in edges for step in (-1, 0, 1)}
    return sorted(word for word in near if 0 <= word < FULL)


def cases_of(one: Randomizer) -> list[dict[str, Any]]:
    """Each telling word first, second and third, among others that are random."""
    cases = []
    random = fresh()
    for value in {0, 1, one.size // 2, one.size - 1}:
        for word in telling_words(one):
            for place in range(3):
                words = [next(random) for _ in range(40)]
                words[place] = word
                cases.append({"value": value, "words": [str(each) for each in words]})
    return cases


def reports_of(one: Randomizer, cases: list[dict[str, Any]]) -> list[object]:
    """Python's reports, as JSON has them."""
    return [one.write(one.perturb(case["value"], iter(map(int, case["words"])))) for case in cases]


@pytest.mark.parametrize("name", MADE)
def test_what_python_computes_javascript_computes(node, name):
    one = MADE[name]()
    cases = cases_of(one)
    theirs = node.result("vectors", survey=survey_of(one).to_json(), cases=cases)
    assert theirs == reports_of(one, cases)


@pytest.mark.parametrize("name", MADE)
def test_what_javascript_drew_python_computes_from_the_same_words(node, name):
    one = MADE[name]()
    values = [k % one.size for k in range(300)]
    cases = node.result("record", survey=survey_of(one).to_json(), values=values)
    assert [case["report"] for case in cases] == reports_of(one, cases)


def test_written_vectors_never_change(node):
    written = json.loads(VECTORS.read_text())
    assert {each["name"] for each in written} == set(MADE)
    for each in written:
        survey = Survey.from_json(each["survey"])
        wanted = [case["report"] for case in each["cases"]]
        assert reports_of(survey.randomizer, each["cases"]) == wanted
        assert node.result("vectors", survey=each["survey"], cases=each["cases"]) == wanted


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("kary", 1_000_000),
        ("two_coins", 1_000_000),
        *[
            pytest.param(name, 1_000_000, marks=pytest.mark.deep)
            for name in ("symmetric_unary", "subset", "small_hashing", "hadamard", "one_bit")
        ],
        ("symmetric_unary", 50_000),
        ("subset", 50_000),
        ("small_hashing", 50_000),
        ("hadamard", 50_000),
        ("hadamard_blocks", 50_000),
        ("one_bit", 50_000),
        ("piecewise", 50_000),
        ("memoized", 50_000),
    ],
)
def test_draws_in_javascript_are_those_of_the_channel(node, name, count):
    one = MADE[name]()
    value = one.size - 1
    found = node.result("draws", survey=survey_of(one).to_json(), value=value, count=count)
    draws: Counter[Any] = Counter()
    for written, many in found:
        draws[one.read(json.loads(written))] += many
    assert sum(draws.values()) == count
    assert p_value(draws, chances_of(one.channel(), value)) >= ALPHA


def test_the_same_test_tells_a_survey_that_is_off_by_a_fiftieth(node):
    other = KaryResponse(size=5, epsilon="98/100")
    found = node.result("draws", survey=survey_of(other).to_json(), value=0, count=1_000_000)
    draws: Counter[Any] = Counter({int(written): many for written, many in found})
    assert p_value(draws, chances_of(KaryResponse(size=5, epsilon=1).channel(), 0)) < ALPHA


@pytest.mark.parametrize("name", [name for name in MADE if not name.startswith("memoized")])
def test_a_collector_takes_what_the_client_sends(node, name):
    survey = survey_of(MADE[name]())
    answers: list[Any] = [0, 1, 1] if isinstance(survey.answers, Scale) else list(survey.answers)
    sent = node.result("answers", survey=survey.to_json(), answers=answers)
    tally = Tally(survey)
    tally.add_lines(json.dumps(report) for report in sent)
    assert tally.n == len(answers)
    assert not tally.dropped


@pytest.mark.parametrize("name", ["memoized", "memoized_unary"])
def test_devices_remember_alike_and_never_draw_more_than_they_may(node, name):
    memoized = MADE[name]()
    assert isinstance(memoized, Memoized)
    random = fresh()
    values = [0, 0, 2, 3, 1, 2, 0, 3]
    steps: list[dict[str, Any]] = [
        {"value": value, "words": [str(next(random)) for _ in range(2 * memoized.size)]}
        for value in values
    ]
    theirs = node.result("device", survey=survey_of(memoized).to_json(), steps=steps)
    device = Device(memoized)
    ours = [
        memoized.write(device.step(step["value"], iter(map(int, step["words"])))) for step in steps
    ]
    assert theirs == {"reports": ours, "memory": device.to_json(), "exhausted": True}
    assert len(device.answers) == memoized.most_values
    assert Device.from_json(memoized, theirs["memory"]).answers == device.answers


def test_numbers_go_to_the_nearest_point_in_both(node):
    survey = Survey(
        "How much?", randomizer=OneBit(size=21, epsilon=1), scale=Scale.of(-5, 5, "1/2")
    )
    answers = [-9, -5, -4.8, -4.75, 0, 0.2, 0.25, 4.99, 5, 77]
    theirs = node.result("values", survey=survey.to_json(), answers=answers)
    assert theirs == survey.values(answers).tolist()


def test_a_device_does_not_answer_a_survey_that_loses_more_than_it_says(node):
    honest = survey_of(KaryResponse(size=4, epsilon=1)).to_json()
    changes: list[Callable[[Any], object]] = [
        lambda s: s["randomizer"].update(lie="1/1000"),
        lambda s: s.update(epsilon="1/2"),
        lambda s: s["randomizer"].update(lie="1/3"),
        lambda s: s["randomizer"].update(lie="nothing"),
        lambda s: s["randomizer"].update(lie="1/1"),
        lambda s: s["randomizer"].update(size=5),
        lambda s: s["randomizer"].update(kind="truth"),
        lambda s: s.update(version=2),
        lambda s: s.pop("randomizer"),
    ]
    for change in changes:
        crooked = copy.deepcopy(honest)
        change(crooked)
        assert node.ask("answers", survey=crooked, answers=["0"])["error"] == "SurveyError"


def test_the_client_refuses_what_is_no_answer_and_says_what_is(node):
    survey = survey_of(TwoCoins()).to_json()
    reply = node.ask("answers", survey=survey, answers=["perhaps"])
    assert reply["error"] == "SurveyError"
    assert "Hint: yes, no" in reply["message"]


def test_the_client_has_no_dependencies_and_no_weak_randomness():
    text = CLIENT.read_text()
    assert "Math.random" not in text
    assert "getRandomValues" in text
    assert "require(" not in text
    code = [line for line in text.splitlines() if not line.lstrip().startswith("*")]
    assert not any(line.startswith("import") for line in code)


def write_vectors() -> None:
    """`python -m tests.local.test_client`: for a new randomizer; those written stay as they are."""
    written = json.loads(VECTORS.read_text()) if VECTORS.exists() else []
    for name, make in MADE.items():
        if name in {each["name"] for each in written}:
            continue
        one = make()
        cases = cases_of(one)[:: max(1, len(cases_of(one)) // 24)]
        for case in cases:
            needed = iter(map(int, case["words"]))
            one.perturb(case["value"], needed)
            case["words"] = case["words"][: 40 - len(list(needed))]
        for case, report in zip(cases, reports_of(one, cases), strict=True):
            case["report"] = report
        written.append({"name": name, "survey": survey_of(one).to_json(), "cases": cases})
    VECTORS.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    write_vectors()
