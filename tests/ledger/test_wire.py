"""Requests and replies survive the way between two processes."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InsufficientBudget, KeyReused
from discreet.ledger.requests import Answered, Reserve, Reserved, Settle
from discreet.ledger.wire import Frames, read_reply, read_request, write_reply, write_request

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
UNITS = st.tuples(st.integers(0, 2**62), st.integers(0, 2**62))
REQUESTS = st.one_of(
    st.builds(Reserve, TEXT, TEXT, st.none() | TEXT, TEXT, UNITS, TEXT),
    st.builds(Settle, st.integers(1, 2**62), TEXT, st.binary()),
)


@given(st.lists(REQUESTS, max_size=5), st.integers(1, 50))
def test_requests_arrive_as_they_were_sent_in_pieces_of_any_size(requests, size):
    stream = b"".join(map(write_request, requests))
    frames = Frames()
    arrived = [
        read_request(*message)
        for start in range(0, len(stream), size)
        for message in frames.feed(stream[start : start + size])
    ]
    assert arrived == requests


@given(st.integers(1, 2**62), st.binary(), st.booleans())
def test_replies_arrive_as_they_were_sent(seq, answer, shared):
    for reply in (Reserved(seq, shared), Answered(seq, answer, shared)):
        (message,) = Frames().feed(write_reply(reply))
        assert read_reply(*message) == reply


def test_refusals_arrive_with_everything_they_say():
    sent = InsufficientBudget(
        "no", asked={"rho": Fraction(1, 3)}, remaining={"rho": Fraction(0)}, whose="you", hint="h"
    )
    (message,) = Frames().feed(write_reply(sent))
    back = read_reply(*message)
    assert isinstance(back, InsufficientBudget)
    assert (back.asked, back.remaining, back.whose) == (sent.asked, sent.remaining, "you")
    (message,) = Frames().feed(write_reply(KeyReused("no", hint=None)))
    back = read_reply(*message)
    assert type(back) is KeyReused
    assert back.hint is None
