#!/usr/bin/python3
"""The stories example: weights, text to tokens and back.

usage: stories.py weights MODEL.bin OUT.npz        llama2.c's binary file as parameters for relayc --params
       stories.py encode TOKENIZER.bin [TEXT]      a prompt as the program's input: [1, 410, 469, 347]
       stories.py decode TOKENIZER.bin TOKEN...    tokens as text
       stories.py tell URL TOKENIZER.bin STEPS [TEXT]    the story as a server tells it: vmserve --model stories=stories.vmx,
                                                   URL is http://127.0.0.1:8000/v2/models/stories
The model and tokenizer are stories260K.bin and tok512.bin of karpathy's tinyllamas (MIT).
"""
import codecs
import json
import struct
import sys
import urllib.request


def weights(path):
    import numpy as np
    with open(path, "rb") as f:
        dim, hidden, layers, heads, kv_heads, vocab, seq = struct.unpack("<7i", f.read(28))
        data = np.fromfile(f, dtype="<f4")
    head = dim // heads
    kv = kv_heads * head
    shapes = [("embedding", (vocab, dim)), ("rms_att", (layers, dim)), ("wq", (layers, dim, dim)), ("wk", (layers, kv, dim)),
              ("wv", (layers, kv, dim)), ("wo", (layers, dim, dim)), ("rms_ffn", (layers, dim)), ("w1", (layers, hidden, dim)),
              ("w2", (layers, dim, hidden)), ("w3", (layers, hidden, dim)), ("rms_final", (dim,)),
              ("rope_cos", (seq, head // 2)), ("rope_sin", (seq, head // 2))]
    out, at = {}, 0
    for name, shape in shapes:
        size = int(np.prod(shape))
        array = data[at:at + size].reshape(shape)
        at += size
        if name.startswith(("rms_att", "rms_ffn", "w")):
            for layer in range(layers):
                out[f"layers.{layer}.{name}"] = array[layer]
        else:
            out[name] = array
    return out


def vocabulary(path):
    with open(path, "rb") as f:
        data = f.read()
    at, scores, pieces = 4, [], []
    while at < len(data):
        score, length = struct.unpack_from("<fi", data, at)
        pieces.append(data[at + 8:at + 8 + length])
        scores.append(score)
        at += 8 + length
    return scores, pieces


def encode(path, text):
    scores, pieces = vocabulary(path)
    number = {p: i for i, p in reversed(list(enumerate(pieces)))}
    tokens = []
    for c in (" " + text) if text else "":
        c = c.encode()
        tokens += [number[c]] if c in number else [b + 3 for b in c]
    while True:
        pairs = [(scores[number[pieces[a] + pieces[b]]], -i) for i, (a, b) in enumerate(zip(tokens, tokens[1:]))
                 if pieces[a] + pieces[b] in number]
        if not pairs:
            return [1] + tokens
        i = -max(pairs)[1]
        tokens[i:i + 2] = [number[pieces[tokens[i]] + pieces[tokens[i + 1]]]]


class Decoder:
    """Tokens to text, one after the other."""
    def __init__(self, path):
        self.pieces = vocabulary(path)[1]
        self.before = None
        self.characters = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def add(self, token):
        before, self.before = self.before, token
        if token == 1:
            return ""
        piece = bytes([token - 3]) if 3 <= token <= 258 else self.pieces[token]
        return self.characters.decode(piece[1:] if before == 1 and piece.startswith(b" ") else piece)

    def end(self):
        return self.characters.decode(b"", final=True)


def decode(path, tokens):
    decoder = Decoder(path)
    return "".join(map(decoder.add, tokens)) + decoder.end()


def events(url, body):
    """What a server answers to generate_stream, event by event."""
    request = urllib.request.Request(url + "/generate_stream", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        for line in answer:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])


def tell(url, path, steps, text):
    prompt = encode(path, text)
    decoder = Decoder(path)
    print("".join(map(decoder.add, prompt)), end="", flush=True)
    for event in events(url, {"prompt": prompt, "steps": steps}):
        if "error" in event:
            sys.exit("\n" + event["error"])
        if "emitted" in event:
            print(decoder.add(event["emitted"]), end="", flush=True)
    print(decoder.end())


def main(args):
    if len(args) == 3 and args[0] == "weights":
        import numpy as np
        np.savez(args[2], **weights(args[1]))
    elif len(args) in (2, 3) and args[0] == "encode":
        print(encode(args[1], args[2] if len(args) == 3 else ""))
    elif len(args) in (4, 5) and args[0] == "tell":
        tell(args[1], args[2], int(args[3]), args[4] if len(args) == 5 else "")
    elif len(args) > 2 and args[0] == "decode":
        print(decode(args[1], [int(t.strip("[],")) for t in args[2:]]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
