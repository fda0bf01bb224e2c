"""Serves a tiny model of random weights with llama.cpp's own server: `python serve_llama.py FOLDER embed|chat`.

Needs `xllamacpp`, `gguf` and `numpy`. The model knows nothing, and a grammar puts words into its mouth; the server
around it is the real one. Prints its address, and ends with its standard input.
"""

import sys
from pathlib import Path

import gguf
import numpy
import xllamacpp

WIDTH, LAYERS, HEADS, INNER, WINDOW = 64, 2, 4, 128, 2048
ANSWER = "It is dry."
"""All that the grammar lets the model say."""
CHAT_TEMPLATE = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"


def tokens() -> tuple[list[bytes], list[float], list[int]]:
    """A vocabulary of single characters, and of bytes for every other one."""
    special = [(b"<unk>", 2), (b"<s>", 3), (b"</s>", 3)]
    raw = [(f"<0x{byte:02X}>".encode(), 6) for byte in range(256)]
    letters = [(letter.encode(), 1) for letter in "\u2581abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,?"]
    names, kinds = zip(*(special + raw + letters), strict=True)
    return list(names), [0.0] * len(names), list(kinds)


def write_model(path: Path) -> None:
    """Write a model of the llama family with weights out of a fixed seed."""
    names, scores, kinds = tokens()
    rng = numpy.random.default_rng(7)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny-random")
    writer.add_context_length(WINDOW)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(names))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(names)
    writer.add_token_scores(scores)
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(CHAT_TEMPLATE)

    def weights(name: str, *shape: int) -> None:
        writer.add_tensor(name, rng.normal(0, 0.3, shape).astype(numpy.float32))

    def norm(name: str) -> None:
        writer.add_tensor(name, numpy.ones(WIDTH, numpy.float32))

    weights("token_embd.weight", len(names), WIDTH)
    weights("output.weight", len(names), WIDTH)
    norm("output_norm.weight")
    for layer in range(LAYERS):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights(f"blk.{layer}.{part}.weight", WIDTH, WIDTH)
        weights(f"blk.{layer}.ffn_gate.weight", INNER, WIDTH)
        weights(f"blk.{layer}.ffn_up.weight", INNER, WIDTH)
        weights(f"blk.{layer}.ffn_down.weight", WIDTH, INNER)
        norm(f"blk.{layer}.attn_norm.weight")
        norm(f"blk.{layer}.ffn_norm.weight")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    path = Path(sys.argv[1]) / "tiny-random.gguf"
    write_model(path)
    embeds = sys.argv[2] == "embed"
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {"tiny-embed" if embeds else "tiny-chat"}
    params.port = 0
    params.n_ctx = WINDOW
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.warmup = False
    params.cpuparams.n_threads = 1
    params.n_predict = 40
    kind = xllamacpp.common_grammar_type.COMMON_GRAMMAR_TYPE_USER
    params.sampling.grammar = xllamacpp.CommonGrammar(kind, f'root ::= "{ANSWER}"')
    if embeds:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


main()
