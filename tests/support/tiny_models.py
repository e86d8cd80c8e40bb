"""A model of sentence-transformers made on the spot: a BERT of two layers with random weights."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

WINDOW = 32

installed = pytest.mark.skipif(
    find_spec("sentence_transformers") is None,
    reason="needs fumishirube[sentence-transformers]; tox -e sentence-transformers installs it",
)


def tiny_model(folder: Path, prompts: dict[str, str] | None = None) -> Path:
    """Write a model into a folder, the same each time, and return the folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the libraries say of each other is not ours
        import torch  # noqa: PLC0415 - where it is installed
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - where it is installed
        from sentence_transformers.sentence_transformer.modules import Pooling, Transformer  # noqa: PLC0415 - where it is installed
        from transformers import BertConfig, BertModel, BertTokenizerFast  # noqa: PLC0415 - where it is installed

        torch.manual_seed(7)
        bert = folder / "bert"
        bert.mkdir(parents=True)
        letters = [chr(code) for code in range(33, 127)] + list("設計休暇検索年次有給申請承認")
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
        words += [f"##{letter}" for letter in letters]
        (bert / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
        BertTokenizerFast(str(bert / "vocab.txt")).save_pretrained(bert)
        shape = BertConfig(
            vocab_size=len(words),
            hidden_size=24,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=WINDOW,
        )
        BertModel(shape).save_pretrained(bert)
        layers = Transformer(str(bert), max_seq_length=WINDOW)
        pooling = Pooling(layers.get_embedding_dimension())
        model = SentenceTransformer(modules=[layers, pooling], prompts=prompts, device="cpu")
        model.save(str(folder / "model"), create_model_card=False)
    return folder / "model"
