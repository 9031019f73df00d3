"""Settings of all tests."""

from hypothesis import settings

# A deadline would be an assertion about time, and those belong in bench/.
settings.register_profile("discreet", deadline=None, print_blob=True)
settings.load_profile("discreet")
