"""Expressions by the hundred, over columns of every type: each operation on each kind of argument.

``n`` is a whole number with bounds, ``m`` one without; ``x`` and ``y`` are reals with and without;
``w`` and ``v`` are text, ``d`` a date, ``s`` a timestamp, ``f`` a condition.
"""

from __future__ import annotations

from itertools import product

from discreet.plan.operations import PARTS, TRUNCATIONS

_NUMBERS = ["n", "m", "x", "y", "7", "0.1", "NULL"]
_VALUES = [*_NUMBERS[:4], "n / 7", "x - 0.5", "y * y", "-3", "2.5"]
# 0 in theory, and far from it as doubles.
_CANCELS = "((n * 0.0 + 1e99 + 1e99 + 1e99) - 3e99)"
_TEXTS = ["v", "w", "v || w", "CAST(m AS VARCHAR)", "'ßİΣ Straße'", "NULL"]
_COMPARED = [
    *(("n", "m"), ("m", "y"), ("x", "y"), ("n", "2.5"), ("m", "9007199254740993"), ("w", "v")),
    *(("v", "'a'"), ("d", "s"), ("d", "DATE '2024-02-29'"), ("f", "f"), ("f", "TRUE")),
    *(("s", "TIMESTAMP '2026-01-01 00:00:00.000001'"), ("n", "NULL"), ("NULL", "v"), ("d", "d")),
    *(("s", "DATE '9999-12-31'"), ("LOWER(v)", "UPPER(w)"), ("m", "99999999999999999999")),
    *(("'a'", "'B'"), ("CAST(n AS VARCHAR)", "CAST(m AS VARCHAR)")),
]
_PATTERNS = [
    *("", "%", "_", "__", "a%", "%a", "%a%b%", "a_b", "_%_", "%%", "%''%", "A", "%\n%", "%é%"),
    *("%[a-z]%", "%(.*)%", "^a$", '%"%', "_́", "%${x}%"),
]

EXPRESSIONS = [
    *(f"{name}({_CANCELS})" for name in ("FLOOR", "CEIL", "ROUND", "-", "SQRT", "ABS")),
    f"CAST({_CANCELS} AS INTEGER)",
    " * ".join([_CANCELS] * 4),
    f"1 / ({_CANCELS} + 1e-100) / ({_CANCELS} + 1e-100) / ({_CANCELS} + 1e-100)",
    f"FLOOR({_CANCELS}) + 9007199254740000",
    *(f"{a} {sign} {b}" for sign, a, b in product("+-*/", _NUMBERS, _NUMBERS[:6])),
    *(f"{a} % {b}" for a, b in product(["n", "CLAMP(m, -9, 9)"], ["7", "-7", "0", "n"])),
    *(f"{name}({a})" for name, a in product(("ABS", "FLOOR", "CEIL", "ROUND", "SQRT"), _VALUES)),
    *(f"-({a})" for a in _VALUES),
    *(f"ROUND({a}, {places})" for a, places in product(_VALUES[:6], (0, 2, 12))),
    *(f"CLAMP({a}, {low})" for a, low in product(_VALUES, ("-5, 5", "0, 0.5", "-1e100, 1e-100"))),
    *(f"{name}({a}, {b})" for name, a, b in product(("LEAST", "GREATEST"), _NUMBERS[:4], _NUMBERS)),
    *(f"GREATEST({a}, NULL, {a}, 0)" for a in _NUMBERS[:4]),
    *(f"{a} {sign} {b}" for sign, (a, b) in product(("=", "<>", "<", "<=", ">", ">="), _COMPARED)),
    *(f"NULLIF({a}, {b})" for a, b in _COMPARED),
    *("n IN (1, 7)", "n IN (1, NULL)", "m NOT IN (0, 1)", "y IN (0, 0.5)", "n IN (0.5, 1)"),
    *(
        "w IN ('a', '')",
        "v IN ('it''s', '\\', 'é')",
        "d IN (DATE '2024-02-29', NULL)",
        "NULL IN (1)",
    ),
    *("s IN (TIMESTAMP '1970-01-01 00:00:00')", "f IN (TRUE)", "x NOT IN (0, 1, NULL)"),
    *(f"{a} {word} {b}" for word, a, b in product(("AND", "OR"), ("f", "n > 3"), ("f", "NULL"))),
    *(f"NOT ({a})" for a in ("f", "NULL", "y > 0", "f AND NULL")),
    *(f"{a} IS {no}NULL" for a, no in product("nmxywvdsf", ("", "NOT "))),
    *("f IS TRUE", "f IS FALSE", "f IS NOT TRUE", "(n > 3) IS FALSE", "NULL IS NULL"),
    *(
        f"CASE WHEN {a} THEN {b} ELSE {c} END"
        for a, (b, c) in product(
            ("f", "n > y", "NULL"),
            (("n", "m"), ("n", "y"), ("v", "'none'"), ("d", "NULL"), ("f", "FALSE"), ("d", "s")),
        )
    ),
    *("CASE WHEN f THEN 2000000000 ELSE 1 END * 3", "CASE w WHEN 'a' THEN 1 WHEN 'b' THEN 2 END"),
    *("CASE WHEN f THEN NULL ELSE NULL END", "IF(f, x, y)", "IF(f, 0.1, 0.5)"),
    *(
        f"COALESCE({a}, {b})"
        for a, b in (("n", "m"), ("m", "y"), ("v", "w"), ("d", "s"), ("f", "TRUE"))
    ),
    *("COALESCE(NULL, n)", "COALESCE(y, x, 0)", "COALESCE(NULL, NULL)", "IFNULL(v, '')"),
    *(f"{name}({a})" for name, a in product(("LOWER", "UPPER", "TRIM", "LENGTH"), _TEXTS)),
    *(f"LENGTH({name}(v))" for name in ("LOWER", "UPPER", "TRIM")),
    *(
        f"SUBSTRING(v, {start}, {length})"
        for start, length in product((0, 1, 2, 2147483647), (0, 1, 3, 2147483647))
    ),
    *("SUBSTRING(w || v, 2)", "v || ' ' || w", "v || NULL", "'\\n' || v || '''' || '\"`'"),
    *(f"v LIKE '{pattern}'" for pattern in _PATTERNS),
    *("w NOT LIKE '_'", "LOWER(v) LIKE '%s%'", "v LIKE NULL"),
    *(f"EXTRACT({part} FROM s)" for part in PARTS),
    *(f"EXTRACT({part} FROM d)" for part in PARTS if part not in ("hour", "minute")),
    *(f"EXTRACT({part} FROM DATE_TRUNC('week', s))" for part in ("year", "isodow", "day")),
    *(f"DATE_TRUNC('{part}', {day})" for part, day in product(TRUNCATIONS, "ds")),
    *(f"DATE_TRUNC('{part}', DATE '0001-01-01')" for part in TRUNCATIONS),
    *(
        f"CAST({a} AS {kind})"
        for a, kind in product(("n", "x", "f", "n / 7"), ("INTEGER", "DOUBLE"))
    ),
    *("CAST(CLAMP(y, -9, 9) AS BIGINT)", "CAST(m AS DOUBLE)"),
    *(f"CAST({a} AS VARCHAR)" for a in ("n", "m", "f", "d", "v", "NULL", "n > 3")),
    *("CAST(s AS DATE)", "CAST(d AS DATE)", "CAST(CAST(s AS DATE) AS VARCHAR)"),
    # Products and quotients at both ends of what doubles can hold.
    *("y * y * y", "y * y * y * y", "1 / (y * y)", "1 / (y * y * y)", "y / y", "y / (y * y * y)"),
    *("(y + y) * (y - 1)", "y * 1e100 * 1e100 * 1e100 * 1e100", "y / 1e-100 / 1e-100 / 1e-100"),
    *(
        "x * 1e-100 * 1e-100 * 1e-100 * 1e-100",
        "SQRT(y * y) - y",
        "FLOOR(y * 1e100)",
        "n / (x - x)",
    ),
    *("(y - 0.1) * 1e-100 / 1e100", "CEIL(y / 3) * 3", "ROUND(m * 0.5)", "m + 1 - m", "m * m"),
    *("ABS(m) - m", "-m + m", "FLOOR(m / 1000)", "SQRT(m)", "m / 3 * 3 = m", "0.1 + 0.2 = 0.3"),
]


def conjunction(count: int) -> str:
    """A chain that is far longer than anything may be deep."""
    return " AND ".join(f"n <> {number}" for number in range(count))
