"""x"""


def report(numbers):
    return ""
