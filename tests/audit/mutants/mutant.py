"""A bug that broke another system, as a patch of this one."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]

GREYBOX = "tests/session/test_greybox.py"
KEYS = "tests/mechanisms/test_key_selection.py"
LEDGER = "tests/conformance/test_ledger.py"
SNAPSHOT = "tests/sql/test_snapshot.py"


@dataclass(frozen=True)
class Mutant:
    """One bug: the text that it replaces, and the tests that should fail."""

    name: str
    kind: str
    path: str
    old: str
    new: str
    checks: tuple[str, ...]

    def plant(self, project: Path) -> None:
        """Patch a copy of the project; the text must be there, and only once."""
        place = project / "src" / "discreet" / self.path
        text = place.read_text(encoding="utf-8") if place.is_file() else ""
        if text.count(self.old) != 1:
            raise Moved(
                f"{self.path} has the text of {self.name!r} {text.count(self.old)} times and not "
                f"once: the mutant needs a new patch.\n{self.old}"
            )
        place.write_text(text.replace(self.old, self.new), encoding="utf-8")


class Moved(Exception):
    """The code has changed under a mutant."""
