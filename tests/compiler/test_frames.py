"""Arrays of a function in machine code: small ones stand on the stack, which they must not fill."""

from jaxnative.program import Buffer
from jaxnative.program_text import LARGE, STACK, heap_buffers


def frame(*sizes):
    """Arrays of so many doubles."""
    return [Buffer("frame", "float64", size, k) for k, size in enumerate(sizes)]


def test_small_arrays_stand_on_the_stack_and_large_ones_do_not():
    too_large = LARGE // 8 + 1
    assert heap_buffers(frame(10, too_large, LARGE // 8)) == {1}


def test_many_small_arrays_do_not_fill_the_stack():
    arrays = frame(*[LARGE // 8] * 2000)
    on_heap = heap_buffers(arrays)
    on_stack = [array for array in arrays if array.place not in on_heap]
    assert STACK - LARGE < sum(8 * array.size for array in on_stack) <= STACK


def test_lanes_count():
    arrays = frame(*[100] * 100)
    assert not heap_buffers(arrays)
    assert heap_buffers(arrays, lanes=8, largest=2 * 6400)
