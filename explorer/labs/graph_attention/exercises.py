"""The exercises of attention on graphs: even heads, edges that decide, kinds that look up."""

from __future__ import annotations

from explorer.contract.exercises import Attempt, Exercise
from models.graph_attention.records import Explanation, Request


def _locks_least_even_head(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    if run.task != "cora":
        return False
    lower = run.entropy[: run.sizes[0]]  # (head,) of layer 1
    return attempt.look.get("head") == f"1.{int(lower.argmin()) + 1}"


def _looks_up_every_key(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    asked = run.labels >= 0
    return (
        run is attempt.plain
        and run.task == "dictionary"
        and bool((run.labels[asked] == run.answers[asked]).all())
    )


def _turns_answer_by_cutting(attempt: Attempt[Request, Explanation]) -> bool:
    request, run, plain = attempt.request, attempt.explanation, attempt.plain
    return (
        request.task == "cora"
        and len(set(request.cut)) == 1
        and request.join == 0
        and request.uniform == "none"
        and not request.silenced
        and plain.is_right is True
        and bool(run.answers[run.focus] != plain.answers[plain.focus])
    )


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="uneven",
        question={
            "en": "Take a paper of Cora. Which head of layer 1 spreads its attention least evenly"
            " over the neighbours? Choose it.",
            "zh": "取一篇 Cora 中的论文。第 1 层的哪个头对邻居分配注意力最不均匀？请选中它。",
        },
        answer={
            "en": "The head with the lowest entropy: for the first paper head 1.1, and even it"
            " stays within one per cent of uniform. On Cora attention hardly chooses.",
            "zh": "熵最低的头：对第一篇论文是头 1.1，连它离均匀也不到百分之一。"
            "在 Cora 上，注意力几乎不作选择。",
        },
        solution="v=1&_head=1.1",
        is_solved=_locks_least_even_head,
    ),
    Exercise(
        key="look-up",
        question={
            "en": "In the dictionary, choose a kind of attention with which all sixteen queries"
            " find their own key.",
            "zh": "在词典任务中，选一种注意力，使十六个查询都找到自己的键。",
        },
        answer={
            "en": "GATv2. In GAT a query shifts all scores alike, so all queries rank the keys in"
            " the same order; GATv2 puts the nonlinearity before the last product.",
            "zh": "GATv2。在 GAT 中，查询只是把所有分数一起移动，所以各查询给键排的次序相同；"
            "GATv2 把非线性放在最后一次乘积之前。",
        },
        solution="v=1&task=dictionary&model=gatv2",
        is_solved=_looks_up_every_key,
    ),
    Exercise(
        key="one-edge",
        question={
            "en": "Take a paper of Cora that the network puts in the right class, and cut a single"
            " citation so that it gets another class.",
            "zh": "取一篇 Cora 中分类正确的论文，只切断一条引用，使它的类别改变。",
        },
        answer={
            "en": "Paper 1,762 without the edge to paper 1,359 becomes “Neural networks”. Its"
            " neighbours disagree, and each has about one eighth of the vote.",
            "zh": "论文 1,762 切断与论文 1,359 的边后变成“Neural networks”。"
            "它的邻居意见不一，每个大约有八分之一的票。",
        },
        solution="v=1&cut=1359",
        is_solved=_turns_answer_by_cutting,
    ),
)
