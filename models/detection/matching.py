"""The assignment of least cost, by which each object gets a query of its own (Kuhn, 1955), for
lists of numbers. No torch here."""

from __future__ import annotations

import math
from collections.abc import Sequence


def match_rows(cost: Sequence[Sequence[float]]) -> list[int]:
    """Return the column of each row, all different, so that the sum of costs is least.

    cost: rows × columns, no more rows than columns. Rows come one after another. Each starts a
    search for the cheapest way to a free column, on which earlier rows may move on to other
    columns; prices of rows and columns keep all costs along the way non-negative (Jonker and
    Volgenant, 1987). It takes O(rows² · columns). Raise ValueError for more rows than columns.
    """
    rows, columns = len(cost), len(cost[0]) if cost else 0
    if rows > columns:
        raise ValueError(f"{rows} rows cannot all have one of {columns} columns")
    price_row, price_column = [0.0] * rows, [0.0] * columns
    owner = [-1] * columns  # the row that has each column
    for start in range(rows):
        least, before = [math.inf] * columns, [-1] * columns
        visited: list[int] = []
        row, last = start, -1
        while True:
            step, nearest = math.inf, -1
            for column in range(columns):
                if column in visited:
                    continue
                reduced = cost[row][column] - price_row[row] - price_column[column]
                if reduced < least[column]:
                    least[column], before[column] = reduced, last
                if least[column] < step:
                    step, nearest = least[column], column
            price_row[start] += step
            for column in visited:
                price_row[owner[column]] += step
                price_column[column] -= step
            least = [value - step for value in least]
            visited.append(nearest)
            last = nearest
            if owner[nearest] < 0:
                break
            row = owner[nearest]
        while last >= 0:  # the rows along the way move on by one column
            previous = before[last]
            owner[last] = start if previous < 0 else owner[previous]
            last = previous
    chosen = [-1] * rows
    for column, row in enumerate(owner):
        if row >= 0:
            chosen[row] = column
    return chosen
