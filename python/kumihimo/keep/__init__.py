"""Keeps a program as fast as it is: performance asserts, comparisons of results, histories.

`region` is what Python programs import: it marks a region of the program for `kumihimo record`, as kumihimo.h does in
C. It imports nothing else of this package.
"""

from kumihimo.keep.regions import region

__all__ = ["region"]
