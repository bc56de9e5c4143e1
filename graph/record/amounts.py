"""Amounts of money in the words of an effect, such as `refund 129.90 EUR`."""

import re
from collections.abc import Iterable

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_CODE = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF|INR|JPY|KRW|MXN|NOK|NZD|PLN|SEK|SGD|TRY|USD|ZAR"
# A number that goes on in front is another one: the end of an account number would count as an amount.
_AMOUNT = re.compile(
    rf"(?<![\w.,])(?:(?:{_CODE}) ?|[$€£¥] ?|\bamount: )({_NUMBER})(?![\w.])"
    rf"|(?<![\w.,])({_NUMBER}) ?(?:(?:{_CODE})\b|[$€£¥])",
    re.ASCII,
)
LENGTH = 15
"""Most characters of an amount: a float tells a longer number no more from the next one."""


def largest_amount(texts: Iterable[str]) -> float | None:
    """Return the largest number beside a currency, or named `amount`; None if there is none.

    Currencies are not converted.

    >>> largest_amount(["refund 129.90 EUR to ann@example.com", "pay amount: 12", "mail 7 people"])
    129.9
    >>> largest_amount(["pay €1,250.00"]), largest_amount(["order 5000"])
    (1250.0, None)
    """
    found = ((before or after).replace(",", "") for text in texts for before, after in _AMOUNT.findall(text))
    return max((float(one) for one in found if len(one) <= LENGTH), default=None)
