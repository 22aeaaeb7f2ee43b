"""What follows from one object is computed once, and forgotten with it."""

import gc

from lissom.once import once_for_each


class Thing:
    """Something frozen."""

    def __init__(self, size):
        self.size = size


def test_a_value_is_computed_once_for_each_object_and_forgotten_with_it():
    asked = []

    @once_for_each
    def double(thing):
        asked.append(thing.size)
        return 2 * thing.size

    one, other = Thing(3), Thing(3)
    assert [double(one), double(one), double(other)] == [6, 6, 6]
    assert asked == [3, 3]
    del one
    gc.collect()
    # A new object may get the place of one that is gone, never its value.
    assert all(double(Thing(size)) == 2 * size for size in range(50))
