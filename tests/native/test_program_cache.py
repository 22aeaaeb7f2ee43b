"""Programs on disk are known by all that they depend on."""

import jax.numpy as jnp

from jaxnative import program_cache
from jaxnative.compilation import split_arguments
from lissom.control.pd import PD
from lissom.solve.law import AbstractLaw


class Spring(AbstractLaw):
    sample: float | None = None

    def sensors(self, model):
        return ("upper.encoder",)

    def __call__(self, t, measured, memory):
        return -measured, memory


def key_with(law, *facts):
    _, structure = split_arguments((law,))
    return program_cache.key_of(program_cache.find, structure, *facts)


def pd_law(joints):
    one = jnp.ones(joints)
    return PD(one, one, reference=0 * one)


def test_the_same_structure_has_the_same_name():
    assert key_with(pd_law(2)) == key_with(pd_law(2))
    assert key_with(pd_law(2), "quick") != key_with(pd_law(2), "well")


def test_a_class_of_the_user_has_none_since_its_code_may_change_under_its_name():
    assert key_with(pd_law(2)) is not None
    assert key_with(Spring()) is None
    # Nor has anything else that contains one.
    assert key_with([{"law": (pd_law(2), Spring())}]) is None


def test_a_function_of_the_user_has_none():
    _, structure = split_arguments((pd_law(2),))
    assert program_cache.key_of(key_with, structure) is None
