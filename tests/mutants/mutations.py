"""Mutations: one small change of a module's source each, of the kind that a slip of the hand would make."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPPOSITE: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add}
QUANTIFIER = {"all": "any", "any": "all", "min": "max", "max": "min"}
SHORT = 12
"""Fewer characters do not say which place of a module they are."""
UNSEEN = ("init", "repr", "strict", "covariant")
"""Arguments that change what a programmer sees, and no result."""


@dataclass(frozen=True)
class Mutation:
    """A changed module: the line that it changes, what stood there, what was written instead, and the whole source."""

    line: int
    was: str
    change: str
    text: str
    source: str

    @property
    def name(self) -> str:
        """The mutation without its line number, which moves with every edit above it; a short one with its line."""
        return f"{self.was} -> {self.change}" + (f" in {self.text}" if len(self.was) < SHORT else "")


def mutations(source: str) -> Iterator[Mutation]:
    """Yield every mutation of a module, in the order of its lines; annotations and docstrings stay as they are."""
    lines = source.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()) + 1)
    data = source.encode()
    found = []
    for node, change in _changes(ast.parse(source)):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        changed = (data[:begin] + change.encode() + data[end:]).decode()
        was = " ".join(data[begin:end].decode().split())
        found.append(Mutation(node.lineno, was, change, lines[node.lineno - 1].strip(), changed))
    yield from sorted(found, key=lambda mutation: mutation.line)


def _changes(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    for node in _code(tree):
        if isinstance(node, ast.stmt):
            yield from _of_statement(node)
        elif isinstance(node, ast.expr):
            yield from _of_expression(node)


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes that run: no annotations, assertions or formatted texts, and no arguments that nobody sees."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(value, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            unseen = isinstance(child, ast.JoinedStr | ast.Assert)
            unseen |= isinstance(child, ast.keyword) and child.arg in UNSEEN
            if isinstance(child, ast.AST) and not unseen:
                yield child
                yield from _code(child)


def _of_statement(node: ast.stmt) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Leave a statement out that does something of its own."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    does = isinstance(node, ast.Expr | ast.AugAssign | ast.Raise | ast.Delete | ast.Continue | ast.Break)
    if does and not is_text and not _is_unreachable(node):
        yield node, "pass"


def _is_unreachable(node: ast.stmt) -> bool:
    """Whether mypy proves that a statement never runs."""
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "assert_never"


def _of_expression(node: ast.expr) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPPED:
        yield node, _written(ast.Compare(node.left, [SWAPPED[type(node.ops[0])]()], node.comparators))
    elif isinstance(node, ast.BoolOp):
        yield node, _written(ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values))
        for place in range(len(node.values)):
            rest = [value for at, value in enumerate(node.values) if at != place]
            yield node, _written(rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, _written(node.operand)
    elif isinstance(node, ast.IfExp):
        yield node, _written(node.body)
        yield node, _written(node.orelse)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPPOSITE:
        yield node, _written(ast.BinOp(node.left, OPPOSITE[type(node.op)](), node.right))
    elif isinstance(node, ast.Constant):
        yield from ((node, change) for change in _of_constant(node.value))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in QUANTIFIER:
        yield node.func, QUANTIFIER[node.func.id]
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        yield from _of_comprehension(node)


def _of_comprehension(node: ast.expr) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Let a condition of a comprehension hold for all."""
    for generator in node.generators:  # type: ignore[attr-defined]
        for condition in generator.ifs:
            yield condition, "True"


def _of_constant(value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield str(not value)
    elif isinstance(value, int):
        yield str(value + 1)


def _written(node: ast.expr) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(node))})"
