from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.errors import StoreError
from memeval.stores.answers import hits_of, picked, steps_of
from memeval.stores.templates import faults_of, filled, secrets_of


@given(st.text(), st.integers(), st.text())
def test_a_value_is_put_in_as_it_is_and_never_read_again(query, k, scope):
    values = {"query": query, "k": k, "scope": scope}
    made = filled({"q": "{query}", "n": "{k}", "where": ["<{scope}>", {"deep": "{query}"}]}, values)
    assert made == {"q": query, "n": k, "where": [f"<{scope}>", {"deep": query}]}


@given(st.text())
def test_a_path_holds_no_text_that_leads_elsewhere(scope):
    path = filled("/banks/{scope}/x", {"scope": scope}, lambda text: quote(text, safe=""))
    # What the value may not bring in: another step, a question mark, a fragment.
    assert path.count("/") == 3 and not set("?#") & set(path)


def test_what_has_no_value_is_left_out_and_braces_are_written_twice():
    assert filled({"at": "{at}", "q": "{{{query}}}"}, {"at": None, "query": "x"}) == {"q": "{x}"}
    assert filled(["{at}", "{query}"], {"query": "x"}) == ["x"]
    assert filled("from {at} on", {}) == "from  on"


def test_metadata_is_reached_by_name_and_records_one_by_one():
    values = {"records": [{"id": "a", "meta": {"type": "note"}}, {"id": "b", "meta": {}}]}
    template = {"all": {"each": {"id": "{id}", "type": "{meta.type}"}}}
    assert filled(template, values) == {"all": [{"id": "a", "type": "note"}, {"id": "b"}]}


def test_secrets_come_from_the_environment_alone(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk {query}")
    assert filled({"a": "Bearer {env:MY_KEY}"}, {"query": "x"}) == {"a": "Bearer sk {query}"}
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(StoreError, match="MY_KEY is not set"):
        filled("{env:MY_KEY}", {})
    assert secrets_of({"a": ["{env:A}", {"b": "x{env:B}"}], "c": 3}) == {"A", "B"}


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ({"q": "{qury}"}, "did you mean {query}?"),
        ({"q": ["{id}"]}, "found no value called 'id'"),
        ("{query", "a lone {"),
        ("query}", "a lone }"),
        ("{env:A B}", "names no environment variable"),
    ],
)
def test_what_is_wrong_with_a_template_is_told(template, found):
    assert [said for _, said in faults_of(template, ["query", "k", "meta."]) if found in said]
    assert list(faults_of({"a": "{{x}} {query} {meta.anything} {env:A}"}, ["query", "meta."])) == []


DATA = {"results": [{"id": 1, "m": [{"t": "a"}, {"t": "b"}]}, {"id": 2, "m": []}], "n": None}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("results[*].id", [1, 2]),
        ("results[*].m[*].t", ["a", "b"]),
        ("results[0].m[1].t", ["b"]),
        ("results[7].id", []),
        ("nothing.at.all", []),
        ("$", [DATA]),
        ("n", [None]),
    ],
)
def test_a_path_leads_to_all_that_is_there(path, found):
    assert picked(DATA, path) == found


def test_what_is_no_path_is_refused():
    for path in ("a[", "a[x]", "[*", "a]b"):
        with pytest.raises(ValueError, match="is no path"):
            steps_of(path)


def test_ids_are_found_in_tags_and_in_texts():
    spec = {"items": "r", "id": {"path": "tags", "prefix": "mem:"}, "text": ["memory", "chunk"]}
    answer = {"r": [{"tags": ["x", "mem:r1"], "chunk": "plums"}, {"tags": [], "memory": "tea"}]}
    assert [(hit.id, hit.text) for hit in hits_of(answer, spec)] == [("r1", "plums"), (None, "tea")]
    spec = {"items": "$", "id": {"path": "text", "regex": r"\[(\w+)\]"}, "text": "text"}
    assert [hit.id for hit in hits_of([{"text": "[r7] tea"}, {"text": "tea"}], spec)] == [
        "r7",
        None,
    ]


def test_no_list_of_hits_is_an_error_and_never_an_empty_answer():
    spec = {"items": "results", "id": "id"}
    with pytest.raises(StoreError, match="no list at 'results', it is an object with 'error'"):
        hits_of({"error": "quota"}, spec)
    with pytest.raises(StoreError, match="no list"):
        hits_of({"results": None}, spec)
    assert hits_of({"results": []}, spec) == []
    assert hits_of({"results": []}, {"items": "results[*]", "id": "id"}) == []
