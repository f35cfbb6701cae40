"""Text of figures and pages: formatted numbers, and text that is valid in XML."""
import math
import re

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# Characters that XML 1.0 does not allow.
NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text):
    """The text with U+FFFD for each character that XML does not allow."""
    return NO_XML.sub("\ufffd", text)


def shortened(text, length):
    """The text, cut to `length` characters with an ellipsis."""
    return text if len(text) <= length else text[:length - 1] + "…"


def scientific(value, digits):
    """3.58·10⁻⁵; a mantissa of 1 is omitted."""
    mantissa, _, power = f"{value:.{max(digits, 1) - 1}e}".partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    sign = "−" if mantissa.startswith("-") else ""
    mantissa = mantissa.lstrip("-")
    power = "10" + str(int(power)).translate(SUPERSCRIPTS)
    return sign + (power if mantissa == "1" else f"{mantissa}·{power}")


def number(value, digits):
    """A number with that many significant digits: 0.00358, 3.58·10⁻⁵, −2; "none" if not finite."""
    if not math.isfinite(value):
        return "none"
    size = abs(value)
    if size != 0 and (size < 1e-4 or size >= 1e6):
        return scientific(value, digits)
    whole = math.floor(math.log10(size)) + 1 if size >= 1 else 0
    text = f"{value:.0f}" if whole >= digits else f"{value:.{digits}g}"
    return text.replace("-", "−")


def fixed(value, decimals):
    """A number with that many decimals."""
    if not abs(value) < 1e15:
        return number(value, 6)
    return f"{value:.{decimals}f}".replace("-", "−")
