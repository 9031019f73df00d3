"""Asked again and again: what all reports together lose, enumerated, and what a device enforces."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.errors import InvalidEpsilon, InvalidSurvey, InvalidValue
from discreet.local import Device, KaryResponse, Memoized
from discreet.local.words import FULL
from discreet.theory.channels import Channel
from discreet.theory.losses import ln

CHANGING = Memoized(size=2, epsilon="ln 9", once="ln 3", most_values=2)


def history(memoized: Memoized, values: tuple[int, ...]) -> dict[object, Fraction]:
    """The distribution of all the reports of a device with this history of true values."""
    first = memoized.permanent.channel()
    second = memoized.instantaneous
    assert isinstance(second, KaryResponse)
    again = second.channel()
    afforded: list[int] = []
    told: list[int] = []
    for value in values:
        if value not in afforded and len(afforded) < memoized.most_values:
            afforded.append(value)
        told.append(value if value in afforded else told[-1])
    table: dict[object, Fraction] = {}
    for answers in product(range(memoized.size), repeat=len(afforded)):
        drawn = dict(zip(afforded, answers, strict=True))
        weight = Fraction(1)
        for value, answer in drawn.items():
            weight *= Fraction(first[value][answer])  # type: ignore[arg-type]  # all rational
        for reports in product(range(memoized.size), repeat=len(values)):
            chance = weight
            for value, report in zip(told, reports, strict=True):
                chance *= Fraction(again[drawn[value]][report])  # type: ignore[arg-type]
            table[reports] = table.get(reports, Fraction(0)) + chance
    return table


def loss_between(memoized: Memoized, *histories: tuple[int, ...]) -> float:
    table = {values: history(memoized, values) for values in histories}
    return float(Channel.from_table(table).epsilon())


@pytest.mark.parametrize("times", [1, 2, 3, 6])
def test_while_the_value_stays_all_reports_together_lose_no_more_than_epsilon(times):
    lost = loss_between(CHANGING, (0,) * times, (1,) * times)
    assert lost <= float(CHANGING.declared)
    # Without memory they would lose so many times the loss of one.
    if times > 2:
        assert lost < times * float(CHANGING.once)


def test_more_and_more_reports_approach_epsilon_and_never_reach_it():
    lost = [loss_between(CHANGING, (0,) * times, (1,) * times) for times in range(1, 7)]
    assert lost == sorted(lost)
    assert lost[0] == pytest.approx(float(CHANGING.once))
    assert lost[-1] < float(CHANGING.declared)


def test_which_values_a_device_had_loses_epsilon_for_each_of_them():
    # Both changed after two reports; what they changed from and to is what is protected.
    lost = loss_between(CHANGING, (0, 0, 1, 1), (1, 1, 0, 0))
    assert float(CHANGING.declared) < lost <= float(CHANGING.total)


def test_when_the_value_changed_is_protected_by_the_instantaneous_noise_alone():
    for values in ((0, 1), (0, 0, 1), (0, 1, 1)):
        still = (0,) * len(values)
        after = sum(value != 0 for value in values)
        assert loss_between(CHANGING, still, values) <= after * float(CHANGING.change)


def test_the_first_report_alone_loses_once():
    for encoding in ("kary", "unary"):
        memoized = Memoized(size=3, epsilon=2, once=1, encoding=encoding)
        channel = memoized.channel()
        assert channel.likelihood_ratio().exact == memoized.first_ratio
        assert 0.999999 < float(ln(memoized.first_ratio)) <= 1


def test_a_device_keeps_its_permanent_answers_and_draws_no_more_than_it_may():
    memoized = Memoized(size=5, epsilon=2, once=1, most_values=3)
    device = Device(memoized)
    device.respond(4)
    kept = dict(device.answers)
    for value in (4, 4, 0, 2, 1, 3, 0, 4):
        device.respond(value)
        assert kept.items() <= device.answers.items()
        kept = dict(device.answers)
    assert list(device.answers) == [4, 0, 2]
    assert device.exhausted
    assert float(device.spent) == float(memoized.total) == 6


def test_an_exhausted_device_answers_for_the_last_value_it_could_afford():
    memoized = Memoized(size=3, epsilon=2, once=1, most_values=1)
    device = Device(memoized)
    words = iter([FULL - 1, FULL - 1] + [FULL - 1] * 3)  # the largest word always tells the truth
    assert [device.step(value, words) for value in (2, 0, 1, 0)] == [2, 2, 2, 2]


def test_a_memory_survives_and_another_is_refused():
    memoized = Memoized(size=5, epsilon=2, once=1, most_values=2, encoding="unary")
    device = Device(memoized)
    device.respond(1)
    device.respond(3)
    again = Device.from_json(memoized, device.to_json())
    assert (again.answers, again.exhausted) == (device.answers, True)
    good = device.to_json()
    for bad in (
        {},
        {**good, "version": 2},
        {**good, "answers": [[9, "00"]]},
        {**good, "answers": [[0, "zz"]]},
        {**good, "answers": [[0, "01"], [1, "01"], [2, "01"]]},
        {**good, "current": 4},
        {**good, "answers": None},
    ):
        with pytest.raises(InvalidSurvey, match="Hint"):
            Device.from_json(memoized, bad)


@pytest.mark.parametrize("encoding", ["kary", "unary"])
def test_many_devices_simulated_again_and_again_tell_the_truth_on_average(encoding):
    memoized = Memoized(size=4, epsilon=3, once=1, encoding=encoding)
    people = np.arange(100_000) % 4 % 3
    answers = memoized.permanent.simulate(people)
    moments = memoized.moments(0)
    for _ in range(3):
        counters = memoized.tally(memoized.simulate_again(answers))
        found = [(c / 1e5 - float(moments.offset)) / float(moments.slope) for c in counters]
        assert found == pytest.approx([1 / 2, 1 / 4, 1 / 4, 0], abs=0.05)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"once": 2}, InvalidEpsilon),
        ({"once": 3}, InvalidEpsilon),
        ({"most_values": 0}, InvalidValue),
        ({"most_values": 10**6}, InvalidValue),
        ({"encoding": "hashing"}, InvalidValue),
    ],
)
def test_what_cannot_be_memoized_is_refused(options, error):
    with pytest.raises(error, match="Hint"):
        Memoized(**{"size": 3, "epsilon": 2, "once": 1, **options})
