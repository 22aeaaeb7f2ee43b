"""Memory of calls: inputs are found where they are, and results have room that nothing else uses."""

import jax
import numpy as np

from jaxnative.call_memory import InputAddresses, OutputBlock, address_of


def test_inputs_are_in_their_type_and_without_gaps():
    inputs = InputAddresses(["float64", "int64"])
    numbers = [np.arange(6, dtype=np.float32).reshape(2, 3).T, np.int64(4)]
    arrays, addresses = inputs.located(numbers)
    assert [array.dtype.name for array in arrays] == ["float64", "int64"]
    assert all(array.flags.c_contiguous for array in arrays)
    assert addresses == [address_of(array) for array in arrays]
    np.testing.assert_array_equal(arrays[0], numbers[0])


def test_an_input_that_comes_again_is_where_it_was_and_another_is_not():
    inputs = InputAddresses(["float64", "float64"])
    model = np.ones(4)
    first, where = inputs.located([model, np.zeros(3)])
    second, then = inputs.located([model, np.full(3, 7.0)])
    assert then[0] == where[0] and second[0] is first[0]
    np.testing.assert_array_equal(second[1], 7.0)
    assert then[1] == address_of(second[1])


def test_results_do_not_overlap_and_are_new_with_every_call():
    block = OutputBlock([((3,), "float64"), ((), "bool"), ((0,), "float64")] * 2)
    block_of_large = OutputBlock([((40, 40), "complex128"), ((2,), "int32")])
    for room in (block, block_of_large):
        arrays, addresses = room.allocated()
        others, _ = room.allocated()
        assert addresses.tolist() == [address_of(array) for array in arrays]
        for number, array in enumerate((*arrays, *others)):
            array.fill(number % 2)
        for number, array in enumerate((*arrays, *others)):
            assert (array == number % 2).all()


def test_a_small_result_does_not_hold_a_large_one():
    (large, small), _ = OutputBlock(
        [((1000, 3), "float64"), ((2,), "float64")]
    ).allocated()
    assert large.base.nbytes == large.nbytes
    assert small.base.nbytes < 1000


def test_memory_of_a_large_result_is_used_again_when_nobody_looks_at_it():
    block = OutputBlock([((100, 40), "float64")])
    (first,), (where,) = block.allocated()
    part = first[3:5, ::2]
    del first
    # A part of a result is a result.
    (second,), (elsewhere,) = block.allocated()
    assert elsewhere != where
    part[:] = 1.0
    second[:] = 2.0
    assert (part == 1.0).all()
    del part
    _, (again,) = block.allocated()
    assert again == where


def test_arrays_of_jax_keep_the_memory_they_were_made_from():
    block = OutputBlock([((100, 40), "float64")])
    (result,), _ = block.allocated()
    result[:] = 3.0
    held = jax.device_put(result)
    del result
    for _ in range(5):
        (other,), _ = block.allocated()
        other[:] = 4.0
        del other
    assert (np.asarray(held) == 3.0).all()


def test_an_array_is_found_whatever_it_is_like():
    whole = np.arange(6.0).reshape(2, 3)
    constant = whole.copy()
    constant.flags.writeable = False
    for array in (whole, whole[1], whole.T, constant, np.zeros(0), np.array(1.0)):
        assert address_of(array) == array.__array_interface__["data"][0]
