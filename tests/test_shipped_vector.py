"""A part of the shipped suite on a store of vectors, beside the other stores."""

from __future__ import annotations

import pytest
from shipped_parts import assert_some_probes_see_the_faults_of


@pytest.mark.slow
def test_some_probes_of_each_tag_see_the_faults_of_a_store_of_vectors() -> None:
    assert_some_probes_see_the_faults_of("vector")
