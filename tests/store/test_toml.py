"""What the TOML writer writes, tomllib reads back."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmkit.store.toml import dump_toml

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
VALUES = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    TEXT,
    st.lists(st.one_of(TEXT, st.integers(0, 9)), max_size=3),
)
TABLES = st.recursive(
    st.dictionaries(TEXT, VALUES, max_size=3),
    lambda inner: st.dictionaries(TEXT, st.one_of(VALUES, inner), max_size=3),
    max_leaves=6,
)


@given(TABLES)
def test_round_trip(settings: dict[str, object]) -> None:
    assert tomllib.loads(dump_toml(settings)) == settings


def test_none_is_left_out_and_tables_follow_values() -> None:
    text = dump_toml({"run": {"seed": 1, "deep": {"x": "y"}}, "order": 5, "vocab": None})
    assert text == 'order = 5\n\n[run]\nseed = 1\n\n[run.deep]\nx = "y"\n'


def test_other_types_are_a_bug() -> None:
    with pytest.raises(TypeError, match="no place in TOML"):
        dump_toml({"x": object()})
