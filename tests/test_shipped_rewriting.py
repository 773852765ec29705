"""A part of the shipped suite on a store that rewrites what it is told, beside the others."""

from __future__ import annotations

import pytest
from rewriting_store import Rewriting
from shipped_parts import assert_some_probes_see_the_faults_of


@pytest.mark.slow
def test_some_probes_of_each_tag_see_the_faults_of_a_store_that_rewrites_what_it_is_told() -> None:
    assert_some_probes_see_the_faults_of(Rewriting)
