"""Read a visitor's graph within bounds: an edge list, a matrix of 0 and 1, or GraphML.

Every refusal is one sentence that names the line. What was changed so that a graph can be read is
said, in the order in which it was noticed. No torch here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from models.explaining.errors import InputError, clean_for_sentence
from models.explaining.request_fields import read_text
from models.media.notices import Said

MOST_NODES = 300
MOST_EDGES = 3_000
MOST_NAME = 40  # characters
_CUT = re.compile(r"\s*(?:->|--|[,;\t])\s*")


@dataclass(frozen=True)
class OwnGraph:
    """A visitor's graph. names, texts: of each node. pairs: undirected edges, each once, the
    smaller node first. said: what was changed."""

    names: tuple[str, ...]
    texts: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    said: Said


def read_graph(text: str) -> OwnGraph:
    """Return the graph that a text gives. Raise InputError for a text that gives none, or one that
    is too large."""
    text = read_text(text).strip().removeprefix("\ufeff")
    if not text:
        raise InputError(
            "empty",
            en="There is no graph: write one edge in each line, such as “a, b”.",
            zh="没有图：请每行写一条边，例如“a, b”。",
        )
    if text.startswith("<"):
        return _read_graphml(text)
    lines = [
        (number, line.strip())
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    rows = [(number, re.split(r"[\s,;]+", line)) for number, line in lines]
    if _is_matrix(rows):
        return _read_matrix(rows)
    return _read_edges(lines)


def _is_matrix(rows: Sequence[tuple[int, list[str]]]) -> bool:
    """Return whether these cells are a matrix of 0 and 1, with or without names, and no edges."""
    *_, (_, last) = rows or [(0, [""])]
    digits = {"0", "1"}
    if len(last) > 2:
        return set(last[1:]) <= digits and not last[0].endswith(":")
    two = all(len(cells) == 2 and {*cells} <= digits for _, cells in rows[-2:])
    return two and (len(rows) == 2 or (len(rows) == 3 and not digits & {*rows[0][1]}))


def _read_edges(lines: Sequence[tuple[int, str]]) -> OwnGraph:
    """Read one edge a line, “a, b”. Lines “a: some words” name a node and its words; where there
    are any, edges name no other nodes."""
    texts: dict[str, str] = {}
    edges: list[tuple[str, str]] = []
    declared = {_name(line.partition(":")[0], number) for number, line in lines if _declares(line)}
    for number, line in lines:
        if _declares(line):
            name, _, words = line.partition(":")
            texts[_name(name, number)] = words.strip()
            continue
        ends = [item for item in _CUT.split(line) if item]
        ends = ends if len(ends) > 1 else line.split()
        if len(ends) != 2:
            raise InputError(
                "line",
                en=(
                    f"Line {number}, “{clean_for_sentence(line)}”, names {len(ends)}"
                    f" {'node' if len(ends) == 1 else 'nodes'}; an edge names two, such as “a, b”."
                ),
                zh=(
                    f"第 {number} 行“{clean_for_sentence(line)}”写了 {len(ends)} 个节点；"
                    "一条边要写两个，例如“a, b”。"
                ),
            )
        first, second = (_name(item, number) for item in ends)
        for name in (first, second):
            if declared and name not in declared:
                raise InputError(
                    "unknown_node",
                    en=(
                        f"Line {number} names the node “{clean_for_sentence(name)}”, which no line"
                        f" such as “{clean_for_sentence(name)}: its words” describes."
                    ),
                    zh=(
                        f"第 {number} 行用到节点“{clean_for_sentence(name)}”，但没有任何一行以"
                        f"“{clean_for_sentence(name)}: 文字”的形式说明它。"
                    ),
                )
            texts.setdefault(name, "")
        edges.append((first, second))
        _check_size(len(texts), len(edges))
    _check_size(len(texts), len(edges))
    names = tuple(texts)
    at = {name: i for i, name in enumerate(names)}
    return _join(names, tuple(texts.values()), [(at[a], at[b]) for a, b in edges], False)


def _read_matrix(rows: Sequence[tuple[int, list[str]]]) -> OwnGraph:
    """Read a matrix of 0 and 1, (node, node), with or without a first row of names."""
    has_names = any(cell not in {"0", "1"} for cell in rows[0][1])
    names = [item for item in rows[0][1] if item] if has_names else []
    body = rows[1:] if has_names else rows
    _check_size(len(body), 0)
    names = names or [str(i + 1) for i in range(len(body))]
    edges = []
    for i, (number, cells) in enumerate(body):
        if len(cells) == len(names) + 1 and has_names:
            cells = cells[1:]
        wrong = next((cell for cell in cells if cell not in {"0", "1"}), None)
        if wrong is not None:
            raise InputError(
                "cell",
                en=(
                    f"Line {number} of the matrix holds “{clean_for_sentence(wrong)}”; 0 and 1 are"
                    " read."
                ),
                zh=f"矩阵第 {number} 行含有“{clean_for_sentence(wrong)}”；只读取 0 和 1。",
            )
        if len(cells) != len(names) or len(body) != len(names):
            raise InputError(
                "square",
                en=(
                    f"Line {number} of the matrix has {len(cells)} entries; {len(body)} rows and"
                    f" {len(names)} columns are no square."
                ),
                zh=(
                    f"矩阵第 {number} 行有 {len(cells)} 个数；{len(body)} 行 {len(names)} 列"
                    "不是方阵。"
                ),
            )
        edges += [(i, j) for j, cell in enumerate(cells) if cell == "1"]
    undirected = {(min(e), max(e)) for e in edges if e[0] != e[1]}
    _check_size(len(body), len(undirected))
    one_way = any((j, i) not in set(edges) for i, j in edges)
    clean = tuple(_name(name, rows[0][0]) for name in names)
    if len(set(clean)) < len(clean):
        raise InputError(
            "twice",
            en="The first row names a node twice; every node needs a name of its own.",
            zh="第一行有重复的节点名；每个节点需要不同的名字。",
        )
    return _join(clean, ("",) * len(clean), edges, one_way, matrix=True)


def _read_graphml(text: str) -> OwnGraph:
    """Read GraphML; the words of a node are all texts that it carries."""
    import networkx  # type: ignore[import-untyped]

    _check_size(len(re.findall(r"<node\b", text)), len(re.findall(r"<edge\b", text)))
    try:
        if "<!" in re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL):
            raise ValueError("declarations are not read")
        graph = networkx.parse_graphml(text)
    except Exception as error:  # the reader raises whatever its parts raise
        raise InputError(
            "graphml",
            en=(
                f"This GraphML cannot be read ({clean_for_sentence(str(error))}); an edge list and"
                " a matrix of 0 and 1 are read too."
            ),
            zh=(
                f"无法读取这份 GraphML（{clean_for_sentence(str(error))}）；"
                "也可以用边列表或 0/1 矩阵。"
            ),
        ) from error
    _check_size(graph.number_of_nodes(), graph.number_of_edges())
    nodes = list(graph)
    at = {node: i for i, node in enumerate(nodes)}
    facts = [{key: str(value) for key, value in graph.nodes[node].items()} for node in nodes]
    names = [
        _name(item.get("label") or str(node), 1) for node, item in zip(nodes, facts, strict=True)
    ]
    if len(set(names)) < len(names):
        names = [_name(str(node), 1) for node in nodes]
    edges = [(at[item[0]], at[item[1]]) for item in graph.edges()]
    _check_size(len(names), len(edges))
    return _join(
        tuple(names), tuple(" ".join(item.values()) for item in facts), edges, graph.is_directed()
    )


def _declares(line: str) -> bool:
    return ":" in line and not any(
        item in line.partition(":")[0] for item in (",", "->", "--", ";")
    )


def _name(name: str, number: int) -> str:
    name = " ".join(name.split())
    if not 0 < len(name) <= MOST_NAME:
        raise InputError(
            "name",
            en=(
                f"Line {number} names a node of {len(name)} characters; 1 to {MOST_NAME} are"
                " accepted."
            ),
            zh=f"第 {number} 行的节点名有 {len(name)} 个字符；可以有 1 到 {MOST_NAME} 个。",
        )
    return name


def _check_size(nodes: int, edges: int) -> None:
    """Raise InputError for a graph that is too large."""
    if nodes > MOST_NODES or edges > MOST_EDGES:
        raise InputError(
            "too_large",
            en=(
                f"The graph has {nodes:,} nodes and {edges:,} edges or more; up to {MOST_NODES}"
                f" nodes and {MOST_EDGES:,} edges are read."
            ),
            zh=(
                f"该图至少有 {nodes:,} 个节点、{edges:,} 条边；最多读取 {MOST_NODES} 个节点、"
                f"{MOST_EDGES:,} 条边。"
            ),
        )


def _join(
    names: tuple[str, ...],
    texts: tuple[str, ...],
    edges: Sequence[tuple[int, int]],
    one_way: bool,
    matrix: bool = False,
) -> OwnGraph:
    """Return the graph of these edges, made undirected, and say what was changed."""
    said: Said = []
    if len(names) < 2 or all(a == b for a, b in edges):
        raise InputError(
            "no_edge",
            en="No two nodes are joined; a graph needs at least one edge between two nodes.",
            zh="没有任何两个节点相连；图至少需要一条连接两个节点的边。",
        )
    if one_way:
        said.append({"en": "made undirected", "zh": "改为无向图"})
    if loops := sum(a == b for a, b in edges):
        said.append(
            {
                "en": f"{loops} {'edge' if loops == 1 else 'edges'} of a node to itself left out,"
                " because attention adds one to each node",
                "zh": f"略去 {loops} 条自环，因为注意力会给每个节点加上一条",
            }
        )
    pairs = sorted({(min(e), max(e)) for e in edges if e[0] != e[1]})
    repeated = 0 if matrix or one_way else len(edges) - loops - len(pairs)
    if repeated:
        said.append(
            {
                "en": f"{repeated} repeated {'edge' if repeated == 1 else 'edges'} counted once",
                "zh": f"{repeated} 条重复的边只计一次",
            }
        )
    return OwnGraph(names, texts, tuple(pairs), said)
