"""Parsing of arithmetic in goals, written in words or signs."""

import ast
import math
import re
import warnings

MAX_OPERATIONS = 200
_LONGEST = 2000
FUNCTIONS = ("sqrt", "abs", "round", "min", "max")

_LEAD = re.compile(
    r"^(?:(?:please|can you|could you|tell me|what is|what's|whats|what does|how much is|calculate|compute|evaluate"
    r"|work out|solve|determine|find|the (?:value|result|answer) (?:of|to)|value of|result of|=|:|,)(?![\w'])\s*)+"
)
_TRAIL = re.compile(r"(?:\s|[?=.]|\bequals?(?: to)?\b|\bplease\b)+$")
_NUMBER = r"\d+(?:\.\d+)?"
_WORDS = [
    (re.compile(pattern), sign)
    for pattern, sign in (
        (r"\b(?:raised )?to the power of\b|\^", "**"),
        (r"\bmultiplied by\b|\btimes\b|[\u00d7\u00b7\u22c5\u2217]", "*"),
        (r"(?<=[\d)])\s*x\s*(?=[\d(.-])", "*"),
        (r"\bdivided by\b|\bover\b|[\u00f7\u2215]", "/"),
        (r"\bplus\b", "+"),
        (r"\bminus\b|[\u2212\u2013]", "-"),
        (r"\bmod(?:ulo)?\b", "%"),
        (r"\bsquared\b", "** 2"),
        (r"\bcubed\b", "** 3"),
        (rf"(?:\b(?:the )?square root of|\u221a)\s*({_NUMBER})", r"sqrt(\1)"),
        (r"(?:\b(?:the )?square root of|\u221a)\s*(\()", r"sqrt\1"),
        (rf"({_NUMBER})\s*(?:%|percent|per cent)\s*of\s+({_NUMBER})", r"(\1 * \2 / 100)"),
        (rf"({_NUMBER})\s*(?:%|percent|per cent)\s*of\b", r"\1 / 100 *"),
        (r"(?<=[\d)])\s*(?=\()", "*"),
    )
]
_VERBS = [
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"^add (.+) to (.+)$", r"(\2) + (\1)"),
        (r"^(?:add|(?:the )?sum of) (.+) and (.+)$", r"(\1) + (\2)"),
        (r"^subtract (.+) from (.+)$", r"(\2) - (\1)"),
        (r"^(?:the )?difference (?:between|of) (.+) and (.+)$", r"(\1) - (\2)"),
        (r"^multiply (.+) (?:by|and|with) (.+)$", r"(\1) * (\2)"),
        (r"^(?:the )?product of (.+) and (.+)$", r"(\1) * (\2)"),
        (r"^divide (.+) by (.+)$", r"(\1) / (\2)"),
        (r"^raise (.+) to the power of (.+)$", r"(\1) ** (\2)"),
    )
]
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_ARITHMETIC = re.compile(
    rf"(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?!\w)|(?:{'|'.join(FUNCTIONS)})(?=\s*\()|[-+*/%(),\s])+"
)
_NODES = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.Call, ast.Name, ast.operator, ast.unaryop, ast.expr_context)


def expression_in(goal: str) -> ast.expr | None:
    """Return the syntax tree of the arithmetic in a goal, or None if the goal is anything else.

    >>> ast.unparse(expression_in("What is 12 times 4 plus 5?"))
    '12 * 4 + 5'
    >>> expression_in("What is love?") is None
    True
    """
    text = " ".join(goal.lower().replace("\u2019", "'").split())
    if len(text) > _LONGEST:
        return None
    text = _in_signs(_TRAIL.sub("", _LEAD.sub("", text)))
    if not _ARITHMETIC.fullmatch(text):
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text.strip(), mode="eval").body
    # With the last one the parser says that something is nested too deeply for it.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if _is_arithmetic(tree) else None


def _in_signs(text: str) -> str:
    if not any(f"{name}(" in text for name in FUNCTIONS):  # in calls, commas separate arguments
        text = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text)
    for pattern, instead in _VERBS:
        text = pattern.sub(instead, text)
    for pattern, sign in _WORDS:
        text = pattern.sub(sign if "\\" in sign else f" {sign} ", text)
    return text


def _is_arithmetic(tree: ast.expr) -> bool:
    nodes = list(ast.walk(tree))
    if sum(isinstance(node, ast.BinOp | ast.Call | ast.UnaryOp) for node in nodes) > MAX_OPERATIONS:
        return False
    numbers = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return (
        all(isinstance(node, _NODES) for node in nodes)
        and all(isinstance(number, int | float) and math.isfinite(number) for number in numbers)
        and all(isinstance(node.func, ast.Name) for node in nodes if isinstance(node, ast.Call))
        # Names stand for functions only: each belongs to a call.
        and sum(isinstance(node, ast.Name) for node in nodes) == sum(isinstance(node, ast.Call) for node in nodes)
    )
