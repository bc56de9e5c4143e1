"""Plan of a calculation: one step per operation of a syntax tree; independent operations run in parallel."""

import ast
from dataclasses import dataclass, field
from typing import Any

NEEDED = {"calculator": ("expression",)}

_LARGEST = 2**63 - 1
_OPERATIONS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "Add {right} to {left}"),
    ast.Sub: ("-", "Subtract {right} from {left}"),
    ast.Mult: ("*", "Multiply {left} by {right}"),
    ast.Div: ("/", "Divide {left} by {right}"),
    ast.FloorDiv: ("//", "Divide {left} by {right} and round down"),
    ast.Mod: ("%", "Take the remainder of {left} divided by {right}"),
    ast.Pow: ("**", "Raise {left} to the power of {right}"),
}


@dataclass(frozen=True)
class Operand:
    """A subexpression as text for an expression and as words for an objective."""

    text: str
    words: str


def calculation(tree: ast.expr) -> dict[str, Any]:
    """Return the plan of an expression; a plain number needs no steps.

    Args:
        tree: A result of `expression_in`.
    """
    if (number := _number(tree)) is not None:
        return {"steps": [], "answer": number if abs(number) <= _LARGEST else str(number)}
    steps = _Steps()
    last = steps.operand(tree)
    if last != steps.last:
        last = steps.add(last.text, f"Take {last.words}")
    return {"steps": steps.planned, "answer": last.text.strip("()")}


@dataclass
class _Steps:
    planned: list[dict[str, Any]] = field(default_factory=list)

    @property
    def last(self) -> Operand:
        step = f"step_{len(self.planned)}"
        return Operand(f"({{{step}_result}})", f"the result of {step}")

    def add(self, expression: str, objective: str) -> Operand:
        step = {
            "id": f"step_{len(self.planned) + 1}",
            "objective": objective,
            "tool": "calculator",
            "args": {"expression": expression},
        }
        self.planned.append(step)
        return self.last

    def operand(self, node: ast.expr) -> Operand:
        """Add the steps of a subexpression, and return the operand for its result."""
        if isinstance(node, ast.BinOp):
            left, right = self.operand(node.left), self.operand(node.right)
            sign, objective = _OPERATIONS[type(node.op)]
            words = objective.format(left=left.words, right=right.words)
            return self.add(f"{left.text} {sign} {right.text}", words)
        if isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name)
            given = [self.operand(argument) for argument in node.args]
            words = ", ".join(each.words for each in given)
            return self.add(
                f"{node.func.id}({', '.join(each.text for each in given)})", f"Take {node.func.id} of {words}"
            )
        if isinstance(node, ast.UnaryOp):
            of = self.operand(node.operand)
            return of if isinstance(node.op, ast.UAdd) else Operand(f"(-{of.text})", f"minus {of.words}")
        assert isinstance(node, ast.Constant)
        return Operand(repr(node.value), repr(node.value))


def _number(node: ast.expr) -> int | float | None:
    if isinstance(node, ast.UnaryOp):
        of = _number(node.operand)
        return of if of is None or isinstance(node.op, ast.UAdd) else -of
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int | float) else None
