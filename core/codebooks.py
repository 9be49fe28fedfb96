"""Writes src/quant/codebooks.rs from the tables in the Python package `gguf` (0.19.0): python3 codebooks.py"""

import importlib.metadata
import pathlib

from gguf import quants


def packed(of, bits):
    """The level numbers of each codeword, the first in the lowest bits."""
    of.init_grid()
    numbers = {value: number for number, value in enumerate(of.grid_map)}
    rows = of.grid.reshape(of.grid_shape).tolist()
    return [sum(numbers[value] << bits * i for i, value in enumerate(row)) for row in rows]


def licence():
    files = importlib.metadata.files("gguf") or []
    return next(file for file in files if file.name == "LICENSE").read_text().strip()


def main():
    books = [
        ("IQ1", quants.IQ1_S, 2, "IQ1_S and IQ1_M: 8 levels of -1, 0, 1."),
        ("IQ2_XXS", quants.IQ2_XXS, 2, "8 levels of 8, 25, 43."),
        ("IQ2_XS", quants.IQ2_XS, 2, "8 levels of 8, 25, 43."),
        ("IQ2_S", quants.IQ2_S, 2, "8 levels of 8, 25, 43."),
        ("IQ3_XXS", quants.IQ3_XXS, 4, "4 levels of 4, 12, 20, 28, 36, 44, 52, 62."),
        ("IQ3_S", quants.IQ3_S, 4, "4 levels of 1, 3, 5, 7, 9, 11, 13, 15."),
    ]
    out = [
        "//! Codewords of the types IQ1 to IQ3: format data, written by `core/codebooks.py` from the package `gguf`.",
        "//!",
        "//! A word holds the numbers of 8 levels, two bits each, or of 4 levels, four bits each, the first in the lowest bits.",
        "//!",
        "//! The tables come under this licence:",
        "//!",
    ]
    out += [f"//! > {line}".rstrip() for line in licence().splitlines()]
    out += ["", "/// All tables by name.", f"pub static ALL: [(&str, &[u16]); {len(books)}] = ["]
    out += [f'    ("{name}", &{name}),' for name, *_ in books]
    out += ["];"]
    for name, of, bits, what in books:
        words = packed(of, bits)
        out += ["", f"/// {what}", f"pub static {name}: [u16; {len(words)}] = ["]
        out += ["    " + ", ".join(f"0x{word:04x}" for word in words[i : i + 13]) + "," for i in range(0, len(words), 13)]
        out += ["];"]
    pathlib.Path(__file__).with_name("src").joinpath("quant/codebooks.rs").write_text("\n".join(out) + "\n")


main()
