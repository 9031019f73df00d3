"""Planning refuses what no number of people could give."""

import pytest

from discreet.errors import InvalidEpsilon
from discreet.theory import central_sample_size, local_sample_size


@pytest.mark.parametrize("epsilon", [0, "inf", -1])
@pytest.mark.parametrize("plan", [central_sample_size, local_sample_size])
def test_an_epsilon_that_teaches_nothing_or_protects_nobody_is_refused(plan, epsilon):
    with pytest.raises(InvalidEpsilon, match="Hint"):
        plan(error="1/100", epsilon=epsilon)
