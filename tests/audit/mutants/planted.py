"""Every mutant, in the order of the list of what has broken others."""

from tests.audit.mutants.glue import GLUE
from tests.audit.mutants.numbers import NUMBERS
from tests.audit.mutants.people import PEOPLE

MUTANTS = [*NUMBERS, *PEOPLE, *GLUE]
