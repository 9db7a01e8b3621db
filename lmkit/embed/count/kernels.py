"""Compiled kernels that count co-occurrences; ``cooccurrence.py`` drives them.

Legend: ``stream`` int32 [S] is the text: words by their rows, -1 between sentences, and at least
one -1 at either end; ``positions`` uint32 [P] are the positions of the words, sorted by word:
those of row w from ``starts[w]`` on; ``weights`` int64 [window + 1] is what a pair at each
distance counts, in units that make all sums exact; ``sums`` int64 [V] and ``seen`` uint64
[V / 64] are the row being summed and one bit for each of its columns; both are zero between rows.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import inlined, kernel, prefetch, trailing_zeros

_SPECIALS = np.uint32(3)
_EOS = np.uint32(2)
_ONE = np.uint64(1)
_AHEAD = 8


@kernel
def compact(ids, stream, begin):  # type: ignore[no-untyped-def]
    """Write the words of ``ids`` [T] to ``stream`` from ``begin`` on; return where they end.

    Words outside the vocabulary are dropped; the end of a sentence becomes -1.
    """
    out = begin
    for i in range(len(ids)):
        word = ids[i]
        if word >= _SPECIALS:
            stream[out] = np.int32(word - _SPECIALS)
            out += 1
        elif word == _EOS:
            stream[out] = np.int32(-1)
            out += 1
    return out


@kernel
def count_words(stream, begin, end, starts):  # type: ignore[no-untyped-def]
    """Set ``starts`` [V + 1] to the running totals of the words in ``stream[begin:end]``."""
    starts[:] = 0
    for i in range(begin, end):
        if stream[i] >= 0:
            starts[stream[i] + 1] += 1
    for row in range(1, len(starts)):
        starts[row] += starts[row - 1]


@kernel
def place_by_word(stream, begin, end, places, positions):  # type: ignore[no-untyped-def]
    """Counting sort: write the positions of row w from ``places[w]`` on, in order."""
    for i in range(begin, end):
        word = stream[i]
        if word >= 0:
            k = places[word]
            places[word] = k + 1
            positions[k] = np.uint32(i)


@inlined
def _add(column, weight, sums, seen):  # type: ignore[no-untyped-def]
    if sums[column] == 0:
        seen[column >> 6] |= _ONE << np.uint64(column & 63)
    sums[column] += weight


@inlined
def _emit(sums, seen, columns, cells, out):  # type: ignore[no-untyped-def]
    """Append the columns of a row in ascending order; clear the row; return the new size."""
    for k in range(len(seen)):
        bits = seen[k]
        if bits != 0:
            seen[k] = 0
            while bits != 0:
                column = (k << 6) + trailing_zeros(bits)
                bits &= bits - _ONE
                columns[out] = np.int32(column)
                cells[out] = sums[column]
                sums[column] = 0
                out += 1
    return out


@kernel
def count_rows(  # type: ignore[no-untyped-def]
    stream, positions, starts, first, last, weights, both, sums, seen, columns, cells, sizes
):
    """Count the rows ``first`` to ``last``; return how many cells they have.

    Contexts reach ``len(weights) - 1`` words to the left, and to the right where ``both``, up to
    the end of the sentence. Writes ``columns`` and ``cells`` (integer sums), one row behind the
    other, and the number of cells of each row to ``sizes``.
    """
    window = len(weights) - 1
    size = 0
    for row in range(first, last):
        for k in range(starts[row], starts[row + 1]):
            if k + _AHEAD < len(positions):
                prefetch(stream, np.int64(positions[k + _AHEAD]))
            position = np.int64(positions[k])
            for distance in range(1, window + 1):
                column = stream[position - distance]
                if column < 0:
                    break
                _add(column, weights[distance], sums, seen)
            if both:
                for distance in range(1, window + 1):
                    column = stream[position + distance]
                    if column < 0:
                        break
                    _add(column, weights[distance], sums, seen)
        before = size
        size = _emit(sums, seen, columns, cells, size)
        sizes[row - first] = size - before
    return size


@kernel
def merge_rows(  # type: ignore[no-untyped-def]
    run_columns, run_cells, offsets, first, last, sums, seen, columns, cells, sizes
):
    """Add up the rows ``first`` to ``last`` of several runs; return how many cells they have.

    Row w of run r is at ``offsets[r, w]`` to ``offsets[r, w + 1]`` of the runs' arrays.
    """
    size = 0
    for row in range(first, last):
        for run in range(len(offsets)):
            for k in range(offsets[run, row], offsets[run, row + 1]):
                _add(run_columns[k], run_cells[k], sums, seen)
        before = size
        size = _emit(sums, seen, columns, cells, size)
        sizes[row - first] = size - before
    return size


@kernel
def sum_rows(offsets, columns, values, num_columns, totals):  # type: ignore[no-untyped-def]
    """Write the sum of each row to ``totals`` float64 [rows], of columns below ``num_columns``."""
    for row in range(len(totals)):
        total = 0.0
        for k in range(offsets[row], offsets[row + 1]):
            if columns[k] < num_columns:
                total += np.float64(values[k])
        totals[row] = total


@kernel
def sum_columns(columns, values, totals):  # type: ignore[no-untyped-def]
    """Add the cells of each column to ``totals`` float64, for as many columns as that has."""
    for k in range(len(columns)):
        if columns[k] < len(totals):
            totals[columns[k]] += np.float64(values[k])


@kernel
def count_ratios(  # type: ignore[no-untyped-def]
    offsets, columns, values, row_scales, column_scales, least, first, last, sizes
):
    """Count, for each row, the cells whose ratio is above ``least``; see :func:`write_ratios`."""
    for row in range(first, last):
        size = 0
        for k in range(offsets[row], offsets[row + 1]):
            column = columns[k]
            if column < len(column_scales):
                ratio = np.float64(values[k]) / (row_scales[row] * column_scales[column])
                if ratio > least:
                    size += 1
        sizes[row] = size


@kernel
def write_ratios(  # type: ignore[no-untyped-def]
    offsets, columns, values, row_scales, column_scales, least, power, first, last,
    new_offsets, new_columns, new_values,
):  # fmt: skip
    """Write (x / (row scale * column scale)) ** ``power`` of each cell above ``least``.

    A power of 0 stands for the natural logarithm. Columns without a scale are left out.
    """
    for row in range(first, last):
        out = new_offsets[row]
        for k in range(offsets[row], offsets[row + 1]):
            column = columns[k]
            if column < len(column_scales):
                ratio = np.float64(values[k]) / (row_scales[row] * column_scales[column])
                if ratio > least:
                    new_columns[out] = column
                    if power == 0.0:
                        new_values[out] = np.float32(np.log(ratio))
                    elif power == 1.0:
                        new_values[out] = np.float32(ratio)
                    elif power == 0.5:
                        new_values[out] = np.float32(np.sqrt(ratio))
                    else:
                        new_values[out] = np.float32(ratio**power)
                    out += 1


@kernel
def count_columns(columns, starts):  # type: ignore[no-untyped-def]
    """Set ``starts`` [columns + 1] to the running totals of the cells of each column."""
    starts[:] = 0
    for k in range(len(columns)):
        starts[columns[k] + 1] += 1
    for column in range(1, len(starts)):
        starts[column] += starts[column - 1]


@kernel
def transpose(offsets, columns, values, places, new_columns, new_values):  # type: ignore[no-untyped-def]
    """Write each cell to its column's next place; ``places`` [columns] begins with the first."""
    for row in range(len(offsets) - 1):
        for k in range(offsets[row], offsets[row + 1]):
            place = places[columns[k]]
            places[columns[k]] = place + 1
            new_columns[place] = np.int32(row)
            new_values[place] = values[k]


@kernel
def multiply_rows(offsets, columns, values, dense, first, last, out):  # type: ignore[no-untyped-def]
    """Write rows ``first`` to ``last`` of the product with ``dense`` [columns, K] to ``out``."""
    width = dense.shape[1]
    for row in range(first, last):
        for j in range(width):
            out[row, j] = np.float32(0)
        for k in range(offsets[row], offsets[row + 1]):
            if k + _AHEAD < len(columns):
                prefetch(dense, np.int64(columns[k + _AHEAD]) * width)
            column = columns[k]
            value = values[k]
            for j in range(width):
                out[row, j] += value * dense[column, j]
