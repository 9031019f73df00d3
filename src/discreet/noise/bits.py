"""Random bits: AES-256 in counter mode, keyed by the operating system.

Reading the operating system for every word would cost more than all the rest of sampling, so each
thread stretches a key of its own. The guarantee of everything drawn from it is therefore
computational: it holds against whoever cannot break AES-256.

A key is never shared: not between threads (each has its own), not between a process and its fork
(the child's first draw makes new keys), and not for more than ``_LIFETIME`` bytes.
"""

from __future__ import annotations

import os
import threading
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

_LIFETIME: Final = 1 << 30
_ZEROS: Final = bytes(1 << 19)
_SLACK: Final = 16  # the cipher's interface asks for room for one more block than it writes

_forks = 0


def _forked() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_forked)


class _Stream(threading.local):
    """One thread's key stream; a new key after a fork and after ``_LIFETIME`` bytes."""

    owner: tuple[int, int] | None = None
    left: int = 0
    cipher: CipherContext

    def fill(self, target: NDArray[np.uint8], length: int) -> None:
        # The process id is asked for as well, in case a fork did not go through Python.
        here = (os.getpid(), _forks)
        if self.owner != here or self.left < length:
            key, counter = os.urandom(32), os.urandom(16)
            self.cipher = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()
            self.owner, self.left = here, _LIFETIME
        self.left -= length
        self.cipher.update_into(memoryview(_ZEROS)[:length], target.data)


_stream = _Stream()


def random_bytes(count: int) -> NDArray[np.uint8]:
    """``count`` fresh random bytes.

    >>> random_bytes(5).shape
    (5,)
    """
    target = np.empty(count + _SLACK, dtype=np.uint8)
    for start in range(0, count, len(_ZEROS)):
        length = min(len(_ZEROS), count - start)
        _stream.fill(target[start:], length)
    return target[:count]


def words(count: int) -> NDArray[np.uint64]:
    """``count`` fresh random words of 64 bits."""
    return random_bytes(8 * count).view(np.uint64)


def halfwords(count: int) -> NDArray[np.uint16]:
    """``count`` fresh random words of 16 bits."""
    return random_bytes(2 * count).view(np.uint16)


def word() -> int:
    """One fresh random word of 64 bits, as a Python integer."""
    return int(words(1)[0])
