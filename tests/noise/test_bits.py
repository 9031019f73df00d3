"""Random bits: fresh after every fork, in every thread, and balanced."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from discreet.noise import bits

# Fork again and again, each child forking once more; every process writes words as it goes.
FORKS = """
import os, sys
import numpy as np
{setup}
children, words = int(sys.argv[1]), int(sys.argv[2])

def write():
    drawn = {draw}
    os.write(1, np.asarray(drawn, dtype=np.uint64).tobytes())

write()
for child in range(children):
    if not os.fork():
        write()
        if child % 4 == 0 and not os.fork():
            write()
            os._exit(0)
        if child % 4 == 0:
            os.wait()
            write()
        os._exit(0)
    os.wait()
    if child % 10 == 0:
        write()
"""
OURS = {"setup": "from discreet.noise import bits", "draw": "bits.words(words)"}
NUMPY = {
    "setup": "generator = np.random.default_rng()",
    "draw": "generator.integers(0, 2**64, words, dtype=np.uint64)",
}


def repeats(source: dict[str, str], forks: int, words: int) -> tuple[int, int]:
    """How many 128-bit words a family of processes drew, and how many of them were not new."""
    done = subprocess.run(
        [sys.executable, "-c", FORKS.format(**source), str(forks), str(words)],
        check=True,
        capture_output=True,
        timeout=600,
    )
    pairs = np.frombuffer(done.stdout, dtype=np.uint64).reshape(-1, 2)
    return len(pairs), len(pairs) - len(np.unique(pairs, axis=0))


@pytest.mark.parametrize(
    ("forks", "words"), [(40, 100), pytest.param(1000, 1000, marks=pytest.mark.deep)]
)
def test_no_128_bit_word_comes_twice_in_a_family_of_forks(forks, words):
    drawn, again = repeats(OURS, forks, words)
    assert drawn >= forks * words // 2
    assert again == 0


def test_a_generator_that_ignores_forks_is_caught():
    _, again = repeats(NUMPY, 10, 100)
    assert again > 0


@pytest.mark.parametrize("words", [2000, pytest.param(100_000, marks=pytest.mark.deep)])
def test_no_128_bit_word_comes_twice_in_sixteen_threads(words):
    drawn: list[np.ndarray] = []
    start = threading.Barrier(16)

    def draw() -> None:
        start.wait()
        mine = [bits.words(words // 10) for _ in range(10)]
        drawn.append(np.concatenate(mine))

    threads = [threading.Thread(target=draw) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pairs = np.concatenate(drawn).reshape(-1, 2)
    assert len(pairs) == 16 * words // 2
    assert len(np.unique(pairs, axis=0)) == len(pairs)


def test_a_fork_during_ball_arithmetic_leaves_the_child_free_to_draw():
    code = """
import os, threading, time
from discreet.exact import balls
from discreet.noise import TwoSidedGeometric

inside = threading.Event()
def hold():
    with balls.precision(100):
        inside.set()
        time.sleep(0.3)

thread = threading.Thread(target=hold)
thread.start()
inside.wait()
child = os.fork()
if not child:
    TwoSidedGeometric(5).sample(3)
    os._exit(7)
_, status = os.waitpid(child, 0)
thread.join()
assert os.waitstatus_to_exitcode(status) == 7
TwoSidedGeometric(5).sample(3)
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


def test_a_key_is_replaced_after_its_lifetime(monkeypatch):
    monkeypatch.setattr(bits, "_LIFETIME", 4096)
    monkeypatch.setattr(bits._stream, "left", 0)
    ciphers = []
    for _ in range(9):
        bits.random_bytes(2048)
        ciphers.append(bits._stream.cipher)
    # Two draws of 2048 bytes to a key; keeping the ciphers keeps their identities apart.
    assert [ciphers[i] is ciphers[i + 1] for i in range(8)] == [True, False] * 4
    monkeypatch.setattr(bits._stream, "left", 0)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 2**19 - 1, 2**19, 2**19 + 1, 3 * 2**19 + 5])
def test_any_number_of_bytes_can_be_drawn_and_all_are_written(count):
    drawn = [bits.random_bytes(count) for _ in range(12)]
    assert all(len(d) == count and d.dtype == np.uint8 for d in drawn)
    # A byte left unwritten would be the same each time; by chance all 12 agree once in 256**11.
    assert not count or bool((np.ptp(drawn, axis=0) > 0).all())


def test_draws_do_not_share_memory():
    first = bits.words(1000)
    kept = first.copy()
    bits.words(1000)
    assert (first == kept).all()


def test_every_bit_of_a_word_is_fair_and_independent_of_its_neighbours():
    # 64 + 63 counts of 200,000 fair coins; each strays 6 standard deviations once in 5e8.
    n = 200_000
    words = bits.words(n)
    spread = words[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)
    assert (np.abs(spread.sum(axis=0, dtype=np.int64) - n / 2) < 6 * np.sqrt(n) / 2).all()
    changes = (spread[:, 1:] != spread[:, :-1]).sum(axis=0)
    assert (np.abs(changes - n / 2) < 6 * np.sqrt(n) / 2).all()


def test_half_words_and_single_words_have_their_range():
    assert bits.halfwords(100_000).dtype == np.uint16
    assert len(np.unique(bits.halfwords(2_000_000))) == 2**16
    assert all(0 <= bits.word() < 2**64 for _ in range(100))
    assert max(bits.word() for _ in range(100)) > 2**60
