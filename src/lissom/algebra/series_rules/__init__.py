"""What each JAX operation does to a power series: linear ones act on every coefficient, the others have a rule.

A rule takes the monomials, the operation's parameters and its operands as series; coefficients are stacked along a
first axis, so that one NumPy call serves all of them.
"""

from . import arithmetic, choice, factorisation, functions, indexing, rearrangement

RULES = {
    **arithmetic.RULES,
    **functions.RULES,
    **choice.RULES,
    **rearrangement.RULES,
    **indexing.RULES,
    **factorisation.RULES,
}
