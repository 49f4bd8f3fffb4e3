"""Writes a language model of random weights, small enough to be made and run in a moment.

    python model.py PATH

It has every byte as a word of its own, so that it can read and say anything. What it says makes no sense, which is of no
matter: with it a real server streams, keeps to grammars and counts.
"""

import sys

import gguf
import numpy

EMBEDDING, HEADS, LAYERS, HIDDEN, WINDOW = 64, 4, 1, 128, 65_536
SPECIAL = ["<unk>", "<s>", "</s>"]


def main() -> None:
    words = SPECIAL + [f"<0x{byte:02X}>" for byte in range(256)]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL] + [gguf.TokenType.BYTE] * 256
    writer = gguf.GGUFWriter(sys.argv[1], "llama")
    writer.add_name("random")
    writer.add_context_length(WINDOW)
    writer.add_embedding_length(EMBEDDING)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(EMBEDDING // HEADS)
    writer.add_vocab_size(len(words))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(words)
    writer.add_token_scores([0.0] * len(words))
    writer.add_token_types(kinds)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_space_prefix(False)

    random = numpy.random.default_rng(7)

    def add(name: str, *shape: int) -> None:
        values = numpy.ones(shape) if len(shape) == 1 else random.normal(0.0, 0.05, shape)
        writer.add_tensor(name, values.astype(numpy.float32))

    add("token_embd.weight", len(words), EMBEDDING)
    add("output_norm.weight", EMBEDDING)
    add("output.weight", len(words), EMBEDDING)
    for layer in range(LAYERS):
        add(f"blk.{layer}.attn_norm.weight", EMBEDDING)
        for part in ["attn_q", "attn_k", "attn_v", "attn_output"]:
            add(f"blk.{layer}.{part}.weight", EMBEDDING, EMBEDDING)
        add(f"blk.{layer}.ffn_norm.weight", EMBEDDING)
        add(f"blk.{layer}.ffn_gate.weight", HIDDEN, EMBEDDING)
        add(f"blk.{layer}.ffn_up.weight", HIDDEN, EMBEDDING)
        add(f"blk.{layer}.ffn_down.weight", EMBEDDING, HIDDEN)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
