"""What the workers of the tests load first: as in the tests themselves, nothing waits between two tries."""

import stamina

stamina.set_testing(True, attempts=3)
