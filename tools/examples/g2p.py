#!/usr/bin/python3
"""The g2p example: weights, words and phonemes.

usage: g2p.py weights CHECKPOINT.npz OUT.npz     the public checkpoint as parameters for relayc --params
       g2p.py raw CHECKPOINT.npz OUT.raw         the same as one flat file, for tests/bench/c/g2p.c
       g2p.py letters WORD                       a word as the program's input: [10, 7, ..., 2]
       g2p.py phonemes NUMBER...                 phonemes by name
The checkpoint is checkpoint20.npz of github.com/Kyubyong/g2p (Apache-2.0).
"""
import sys

NAMES = ["enc_emb", "enc_w_ih", "enc_w_hh", "enc_b_ih", "enc_b_hh",
         "dec_emb", "dec_w_ih", "dec_w_hh", "dec_b_ih", "dec_b_hh", "fc_w", "fc_b"]
PHONEMES = """<pad> <unk> <s> </s> AA0 AA1 AA2 AE0 AE1 AE2 AH0 AH1 AH2 AO0 AO1 AO2 AW0 AW1 AW2 AY0 AY1 AY2 B CH D DH EH0 EH1
EH2 ER0 ER1 ER2 EY0 EY1 EY2 F G HH IH0 IH1 IH2 IY0 IY1 IY2 JH K L M N NG OW0 OW1 OW2 OY0 OY1 OY2 P R S SH T TH UH0 UH1 UH2
UW UW0 UW1 UW2 V W Y Z ZH""".split()


def arrays(path):
    import numpy as np
    checkpoint = np.load(path)
    return {n: np.ascontiguousarray(checkpoint[n], dtype=np.float32) for n in NAMES}


def letters(word):
    return [ord(c) - ord("a") + 3 if "a" <= c <= "z" else 1 for c in word.lower()] + [2]


def main(args):
    if len(args) == 3 and args[0] == "weights":
        import numpy as np
        np.savez(args[2], **arrays(args[1]))
    elif len(args) == 3 and args[0] == "raw":
        with open(args[2], "wb") as out:
            for a in arrays(args[1]).values():
                a.tofile(out)
    elif len(args) == 2 and args[0] == "letters":
        print(letters(args[1]))
    elif args and args[0] == "phonemes":
        print(" ".join(PHONEMES[int(n.strip("[],"))] for n in args[1:]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
