"""Shifts and masks as the engine writes them, for every width: both builds give the same.

Compiled, an ``int`` is a machine word until it outgrows 62 bits, and an ``i64`` has 64 for good. mypyc
2.4.1 shifts a literal by an ``i64`` in 32 bits, also one that a variable was set to; the build refuses such
a module. So what is shifted here is an argument.
"""

from collections.abc import Iterator

from referee.native import i64

MASKS = (1, 3, 15, (1 << 52) - 1, (1 << 61) - 1, (1 << 62) - 1, (1 << 63) - 1, (1 << 64) + 1, (1 << 104) - 1)
WIDEST = 140
"""More than the bits of a play's code."""


def of_integers(mask: int, width: int) -> tuple[int, ...]:
    """Return what the idioms for integers of any size give."""
    bit = 1 << width
    moved = mask << width
    low = moved & -moved
    return (
        *(bit, moved, mask >> width, mask >> width & 1, mask & ~bit, mask | bit, mask ^ bit, 15 << width),
        *(bit - 1, low, low.bit_length() - 1, (moved - 1).bit_count(), moved.bit_length(), -1 << width),
        *(moved & moved >> 4, (moved | bit) // 3, moved % 13, (moved & mask) * 15, ~moved, -mask >> width),
        *(1 << width * 2 + 8, (mask << 2 | 1) << width, moved | mask, bit << 1 | bit, bit + (4 << width)),
    )


def of_words(mask: i64, width: i64, one: i64, some: int) -> tuple[int, ...]:
    """Return what the idioms for integers of 64 bits give; ``mask`` has no more than 63 bits."""
    bit = one << width
    rest = mask >> width
    back = rest << width
    low = rest & -rest
    locked: i64 = 0
    locked |= bit
    return (
        *(int(bit), int(rest), int(rest & 1), int(mask & ~bit), int(mask | bit), int(mask ^ bit), int(back)),
        *(int(bit - 1), int(low), int(locked), int(one << some), int(mask >> some), int(mask >> some & 1)),
        *(int(rest & rest >> 4), int(rest % 13), int(rest // 3), int(~mask), int(-mask >> width)),
    )


def lines() -> Iterator[str]:
    """Yield what each mask and width give, as text."""
    for mask in MASKS:
        for width in range(WIDEST):
            yield f"{mask:x} {width} {of_integers(mask, width)}"
            if width < 63 and mask < 1 << 63:
                yield f"{mask:x} {width} {of_words(mask, width, 1, width)}"


def main() -> None:
    """Print all of it."""
    print("\n".join(lines()))


if __name__ == "__main__":
    main()
