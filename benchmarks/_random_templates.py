"""What random programs are made of: lines of Python with holes.

``{int}`` is filled with an expression of that type. Types are: int; npi, a number of NumPy; float; bool; arr, an array of two
numbers; mask, one of two Booleans; mat, of two rows and two columns; list, tup and dict, of two integers each; str; any other
value, of which only outputs are made. ``{const}`` is a small integer, ``{pos}`` one from 1 up, ``{cint}`` and ``{carr}`` are mostly
constants. Single capital letters are new names. After ``#`` come names of constructs that the syntax does not show.
"""

import re


def several(text: str) -> tuple[str, ...]:
    """Split a text at wide spaces."""
    return tuple(re.split(r"\s{2,}", text.strip()))


EXPRESSIONS: dict[str, tuple[str, ...]] = {
    "int": several("""
        {int} + {int}   {int} - {int}   {int} * {const}   {int} // {pos}   {int} % {pos}   {int} ** 2   {int} * {int}
        {int} // {int}   {int} % {int}   {cint} ** {pos}   2 ** {cint}   {pos} << {cint}   {cint} << {pos}   {cint} >> 1
        {int} & 1   {int} | 2   {int} ^ 1   ~{int}   -{int}   +{int}   abs({int})   max({int}, {int})
        min({int}, {const})   min({int}, {int}, key=lambda A: -A)   max({list})   min({tup})   max({list}, key=abs)
        max([], default={int})   sum({list})   sum({arr})   sum({list}, {int})   sum(A * 2 for A in {list})
        sum(A > 1 for A in {list})   len({list})   len(x)   len({arr})   len({dict})   len({str})   len({tup})
        len(set([1, {const}]))   len(range({pos}))   int({float})   int({bool})   int({int})   round({float})
        round({int})   round({float}, 1)   int(str(7))   {int} if {bool} else {int}
        {int} if {int} > {const} else {const}   {list}[0]   {list}[-1]   {tup}[1]   {list}[{const}]   {dict}['a']
        {dict}['b']   (lambda A, B=2: A + B)({int})   (lambda *A: A[0])({int}, 2)   (A := {int}) + A   pow({int}, 2)
        pow({cint}, {pos})   divmod({int}, {pos})[0]   divmod({int}, {pos})[1]   double({int})   helper({int})
        helper({int}, {int})   helper({int}, b={int})   helper({int}, 1, *{tup})   helper(*{tup})
        helper({int}, scale=2)   helper({int}, **{'scale': 2})   named(a={int}, b=1)   named(**{dict})
        partial_double({int})   POINT.x + {int}   POINT.moved({int})   TABLE[0][1] + {int}   LEVEL + {int}
        {list}.index({const})   {list}.count({const})   {list}.pop()   {tup}.index({int})   {tup}.count({const})
        {dict}.get('a')   {dict}.get('c', {int})   {dict}.pop('b')   {dict}.pop('c', 0)   {dict}.setdefault('c', {int})
        len({dict}.keys())   sum({dict}.values())   sum(B for A, B in {dict}.items() if A != 'a')   math.floor({float})
        math.ceil({float})   math.trunc({float})   math.floor({int})   math.prod({list})   math.comb(4, {cint})
        math.perm(3, {cint})
        math.factorial(abs({cint}))   math.gcd({cint}, 6)   math.lcm({cint}, 4)   math.isqrt(abs({cint}))
        (5).bit_length()   (7).bit_count()   int.from_bytes((3).to_bytes(2, 'big'), 'big')
        int.from_bytes(b'ab', 'little')   len('a b'.split())   len(b'ab') + {int}
        (None if {bool} else {int}) or {const}   next_of({int})   x.size   x.ndim   x.dtype.itemsize   {mat}.shape[0]
        {arr}.tolist()[0]   {arr}.item({const})   {mat}[0, 1]   {mat}[1][0]   len([A for A in {list} if A > {const}])
        (not {int}) + 1   sum(A * B for A, B in zip({list}, {tup}))   sum(A * B for A, B in enumerate({list}))
        list(reversed({list}))[0]   sum(A for A in {list} for B in {tup} if A < B)   len({A % 2 for A in (1, 2, 3)})
        {1: {int}, 2: {int}}[{pos}]   list(map(abs, {list}))[0]   sum(map(lambda A: A - 1, {list}))
        len(list(filter(None, {list})))   sum(filter(lambda A: A > 0, {list}))   sorted({list})[0]
        sorted({list}, key=lambda A: -A)[0]   sorted([{int}, {int}, {const}], reverse=True)[1]
        sorted({list}, key=abs, reverse=True)[0]   [{int}, {int}].index({int})   (1, {int}).count({int})   {npi}.item()
        int({npi})   int(np.ceil({float}))   int({mask}[0])   int({arr}[0])   int({arr}.sum())   ({list} + [{int}])[2]
        ({tup} * 2)[3]   (0 < {int}) + ({int} < 2)   (-1) ** {cint}   sum(x) * 0 + {int}   int(x.shape == (2,))
    """),
    "npi": several("""
        np.int64({int})   np.float64({int})   np.float64({float})   np.subtract({int}, {const})
        np.maximum({int}, {int})   np.maximum({float}, {const})   np.minimum({int}, {const})   np.absolute({int})
        np.abs({float})   np.sign({int})   np.sign({float})   np.floor({float})   np.ceil({float})   np.rint({float})
        np.round({float})   np.round({float}, 1)   np.floor({int})   np.clip({int}, 0, 2)
        np.clip({int}, {const}, None)   np.clip({float}, 0.0, 1.5)   np.clip({int}, {int}, 2)   np.sum({arr})
        np.sum({mask})   np.mean({arr})   np.max({arr})   np.min({list})   np.argmax({arr})   np.argmin({arr})
        np.argmax([{int}, {int}, {int}])   np.argmax({mask})   np.median({arr})   np.std({arr})   np.var({arr})
        np.linalg.norm({arr})   np.linalg.norm({arr}, 1)   np.count_nonzero({arr})   np.count_nonzero({mask})
        np.searchsorted([0, 1, 2], {int})   np.searchsorted(np.array([0, 2]), {int}, side='right')
        np.where({bool}, {int}, {int})[()]   np.divide({int}, {pos})   np.divide({int}, {int})   np.exp({int})
        np.expm1({int})   np.sinh({int})   np.log({int})   np.log1p({int})   np.sqrt({int})   np.sqrt(abs({int}))
        np.arcsinh({int})   np.uint64({pos})   {arr}[0]   {arr}[-1]   {arr}[{const}]   {mat}[1, 0]   {arr}.sum()
        {arr}.mean()   {arr}.max()   {arr}.min()   {arr}.argmax()   {arr}.argmin()   {arr}.std()   {arr}.var()
        {npi}.astype(float)   {npi}.round()   {npi}.copy()   {npi}.astype(np.int64)   {npi} + {npi}   {npi} * 2   -{npi}
        {npi} / 2   {npi} // 2   {npi} % 2   {npi} ** 2   abs({npi})   {mask}.sum()   {npi}.sum()   {npi}.max()
        {npi}.min()   {npi}.tolist()   {mat}[0] @ {mat}[:, 1]   {arr} @ {arr}   np.array({int})[()]
        (np.array({int}) + 1)   np.max({int})   np.sum([{int}, {int}, {const}])   np.mean([{int}, {int}])
    """),
    "float": several("""
        {int} / 2   {int} / {int}   float({int})   float({float})   {float} + {int}   {float} - {float}   {float} * 0.5
        {float} * {float}   {float} / {int}   {float} // 0.5   {float} % 0.5   -{float}   abs({float})   {float} ** 2
        {cint} ** -1   {cint} ** 0.5   {float} + math.inf   math.exp({int})   math.exp2({int})   math.expm1({cint})
        math.log({int})   math.log(abs({int}) + 1)   math.log2({pos})   math.log10({pos})   math.log1p({int})
        math.sqrt({int})   math.sqrt(abs({int}))   math.cbrt({int})   math.sin({float})   math.cos({int})
        math.tanh({int})   math.atan({int})   math.asinh({int})   math.sinh({cint})   math.cosh({cint})
        math.erf({int})   math.erfc({float})   math.fabs({int})   math.fabs({float})   math.fsum({list})
        math.pow({int}, 2)   math.pow({int}, 0.5)   math.gamma({pos})   math.lgamma({pos})   math.hypot({cint}, 1)
        math.atan2({cint}, 1)   math.asin({cint})   math.acos({cint})   math.tan({cint})   math.atanh({cint} / 4)
        math.acosh({pos})   math.copysign({cint}, -1)   math.fmod({cint}, 2)   math.ldexp({cint}, 1)
        math.degrees({cint})   math.radians({cint})   math.dist([0, {cint}], [1, 1])   {arr}.mean()   float({npi})
        max({float}, 0.5)   min({int}, 1.5)   max(0.0, {float})   max({float}, {int})   0.5 if {bool} else {float}
    """),
    "bool": several("""
        {int} > {const}   {int} >= {int}   {int} < {const}   {int} <= {int}   {int} == {const}   {int} != {int}
        {const} <= {int} < 3   {int} < {int} < {int}   {float} > 0.5   {float} <= {int}   {npi} > {const}
        {npi} == {int}   {bool} and {bool}   {bool} or {bool}   not {bool}   not {int}   {int} > 0 and {int} < 2
        {int} < 0 or {int} > 1   {int} in (0, {const})   {int} not in {list}   {const} in {list}   {int} in range(3)
        {int} in {arr}   'a' in {dict}   {int} is None   {list} is not None   {str} == 'up'   {str} in ('up', 'on')
        'u' in {str}   {str} < 'on'   {int} == 'up'   {tup} == (0, 1)   bool({int})   bool({list})   bool({float})
        any(A > 1 for A in {list})   all(A > 0 for A in {tup})   any({list})   all({tup})   any([{bool}, {bool}])
        isinstance({int}, int)   isinstance({float}, (int, float))   isinstance({arr}, np.ndarray)
        isinstance({npi}, np.integer)   isinstance({list}, list)   math.isnan({float})   math.isinf({float})
        math.isfinite({float})   math.isclose({cint}, 1)   np.less({int}, {int})   np.less_equal({float}, 0.5)
        np.any({mask})   np.all({mask})   {mask}.any()   {mask}.all()   {mask}[0]   (2.0).is_integer()
        'up'.startswith('u')   'up'.endswith({str})   {npi}.any()   {npi}.all()   x.dtype.kind == 'i'
        x.dtype.name == 'int64'   (lambda A: A > 0)({int})   {bool} == {bool}   {bool} ^ {bool}   {bool} & {bool}
        {bool} | {bool}   {float} != {float}   {arr}[0] == {arr}[1]   ({int} > 1) == {bool}   {float} == 0.0
        'up' if {bool} else ''   {int} and {bool}   {list} == {list}   all(A <= B for A, B in zip({list}, {tup}))
        x.shape == (2,)
    """),
    "arr": several("""
        np.array([{int}, {int}])   np.array({list})   np.array([{int}, {int}], dtype=float)   np.asarray({tup})
        np.asarray({arr})   {arr}.copy()   {arr} + {arr}   {arr} - {int}   {arr} * {const}   {arr} / 2   {arr} // 2
        {arr} % 2   {arr} ** 2   -{arr}   +{arr}   abs({arr})   {int} + {arr}   {list} + {arr}   {arr} * {mask}
        {arr} * {arr}   np.subtract({arr}, {list})   np.maximum({arr}, {const})   np.minimum({arr}, {arr})
        np.absolute({arr})   np.abs({arr})   np.sign({arr})   np.floor({arr} / 2)   np.rint({arr} / 2)
        np.round({arr} / 4, 1)   np.clip({arr}, 0, 2)   {arr}.clip(0, 1)   {arr}.round()   np.exp({arr})
        np.sqrt(np.abs({arr}))   np.where({mask}, {arr}, {arr})   np.where({arr} > {const}, {arr}, 0)
        np.where({mask}, 1.5, {int})   np.where({bool}, {arr}, {list})   np.cumsum({arr})   {arr}.cumsum()
        np.sort({arr})   {arr}[::-1]   {arr}[:]   {arr}[[1, 0]]   {arr}[[True, True]]   {mat}[0]   {mat}[:, 1]
        {mat}.sum(axis=0)   {mat}.max(axis=1)   np.sum({mat}, axis=1)   np.mean({mat}, axis=0)   np.min({mat}, axis=1)
        np.argmax({mat}, axis=1)   {mat} @ {arr}   {arr}.astype(float)   {arr}.astype(np.int64)   {arr}.astype(bool)
        {mask}.astype(int)   np.zeros(2)   np.ones(2, dtype=int)   np.full(2, {int})   np.zeros(2) + {int}
        np.arange(2) + {arr}   np.concatenate([{arr}[:1], {arr}[1:]])   np.append({arr}[:1], {int})
        np.delete({mat}.reshape(4), [0, 1])
        np.hstack([{int}, {int}])   np.tile([{int}], 2)   np.array([A + 1 for A in {arr}])
        np.array([{int} for A in range(2)])   np.broadcast_to({arr}, (2,))   {arr}.reshape(2)
        np.reshape({mat}, (4,))[1:3]   np.array(sorted({arr}))   np.linspace(0, 1, 2)
        np.concatenate([{arr}, {list}])[1:3]   np.where({arr} == 0, 0, {list})
    """),
    "mask": several("""
        {arr} > {const}   {arr} >= {arr}   {arr} < {int}   {arr} <= 1   {arr} == {list}   {arr} != {const}   ~{mask}
        {mask} & {mask}   {mask} | {mask}   {mask} ^ {mask}   np.array([{bool}, {bool}])   {mask}[::-1]
        np.array([A > 1 for A in {list}])   {arr}.astype(bool)   np.zeros(2, dtype=bool)
    """),
    "mat": several("""
        np.array([[{int}, 1], [0, {int}]])   np.array([{arr}, {list}])   np.stack([{arr}, {arr}])
        np.column_stack([{arr}, {arr}])   {mat}.T   {mat} + {arr}   np.eye(2) * {int}   np.tril({mat})
        np.sort({mat}, axis=0)   np.cumsum({mat}, axis=1)   {mat}.cumsum(axis=0)   {mat} * 2   {mat} @ {mat}
        np.reshape([{int}, {int}, 0, 1], (2, 2))   np.broadcast_to({arr}, (2, 2))   np.tile({arr}, (2, 1))
        np.subtract.outer({carr}, {carr})
        np.stack([{arr}, {arr}], axis=1)   {mat}.copy()   np.where({mat} > 0, {mat}, 0)   np.clip({mat}, 0, 1)
        {mat}.reshape(2, 2)   np.zeros((2, 2)) + {int}
    """),
    "list": several("""
        [{int}, {int}]   [{int}, *[{int}]]   list({tup})   list({arr})   {arr}.tolist()   [A + 1 for A in {list}]
        {list}[:]   [A for A in ({int}, {int})]   [A if A > 0 else 0 for A in {list}]   sorted({list})
        sorted({list}, reverse=True)   {list}.copy()   list(map(abs, {list}))   list(reversed({list}))
        [A + B for A, B in zip({list}, {tup})]   {list}[::-1]   [{int}] * 2   [{int}] + [{int}]   list({dict}.values())
        [int(A) for A in {mask}]   [A * B for A in [1] for B in {list}]   [*{tup}]   sorted({list}, key=lambda A: A % 2)
        [double(A) for A in {list}]   list({arr})[:2]   [max(A, 0) for A in {arr}]   list({dict})
    """),
    "tup": several("""
        ({int}, {int})   tuple({list})   tuple(A for A in {list})   divmod({int}, 2)   ({int},) + ({int},)
        tuple({arr})   (1, *[{int}])   {tup}[::-1]   pair({int})   tuple(A - 1 for A in {tup})   tuple(sorted({tup}))
        tuple({dict}.values())   (lambda: ({int}, 1))()
    """),
    "dict": several("""
        {'a': {int}, 'b': {int}}   dict(a={int}, b={int})   dict([('a', {int}), ('b', 1)])
        {A: {int} for A in ('a', 'b')}   {**{dict}, 'b': {int}}   dict({dict})   {dict}.copy()
        dict(zip(('a', 'b'), {tup}))   {A: B + 1 for A, B in {dict}.items()}   dict({dict}, b={int})
        {'b': 2, **dict(a={int})}
    """),
    "str": several("""
        'up' if {bool} else 'down'   'up'   f'{LEVEL}{1 + 1!r:>3}'   'a' + 'b'   'up'.upper()   'UP'.lower()
        ' up '.strip()   'up'.replace('u', 'p')   '%d up' % 3   str({const})   str(1.5)   f'{LEVEL:02d}'   'up' * {pos}
        'down'[1:]   ('up', 'down')[{const}]   f'up{2}'.encode().__class__ and 'up' or ''   str('up')   str()
    """),
    "any": several("""
        np.flatnonzero({arr})   np.where({mask})   {arr}[{mask}]   {arr}[{arr} > 1]   np.append({mat}, {arr})
        np.hstack([{arr}, {arr}])   np.unique({carr})   np.bincount(np.abs({carr}))   np.histogram({carr}, bins=2)
        np.linalg.pinv(np.eye(2))   {mat}.sum(axis=1, keepdims=True)   {arr}[1:]   {arr}[:, None]   {arr}[None] - {arr}[:, None]
        ({int}, [{float}], {'k': {bool}})   ({str}, {bool}, None)   [{arr}, {mask}]   {list}[1:]   {tup}[:1]
        [{tup}, ({int},)]   {'x': {arr}, 'y': {list}}   np.tile({arr}, 2)   np.array([])   np.zeros((0,)).sum() + {int}
        np.concatenate([{arr}, {arr}])   'up'.encode()   b'up'   np.array(['up', 'on'])   ...   np.sort({list})
        np.argsort({arr}, kind='stable')   {arr}.argsort(kind='stable')[1:]
        np.argsort({mat}, axis=1, stable=True)   np.argsort({arr})
        np.cumsum({list})   {int}, {bool}   np.median({mat}, axis=0)   np.any({mat} > 1, axis=0)
        np.all({mat} > 0, axis=1)   np.argmin({mat}, axis=0)   np.array([[{int}], [{int}, 1]])   {float} + 0.0
        -{float}   np.round({float}) + 0.0   {npi}.round(1)   np.float64({int}) / {const}   x.dtype.char
        x.dtype.type is None   {npi}.dtype.kind   {npi}.shape   {npi}.ndim   x.T.shape   np.unique({arr})
        np.arange({int})   [0] * {int}   np.std({mat}, axis=0)   np.var({list})   np.linalg.norm({list}, np.inf)
        np.array([{float}, {int}])   {mat}[{mask}]   {mat}[0][{mask}]   {arr}[{int}]   {list}[{int}]   'up'[{int}]
        {'up': 1}[{str}]   {int} @ {int}   {int} + {str}   len({int})   double({int})[0]   {arr} + np.array([1, 2, 3])
        np.reshape({arr}, (3,))   double({int})()   sum({str})   math.sqrt({str})   max({int})
    """),
}

STATEMENTS: tuple[tuple[str, str], ...] = (
    # (lines, the names that they introduce with their types)
    ("A = {int}\nA += {int}\nA -= 1\nA *= {const}", "A:int"),
    ("A = {int}\nA //= {pos}\nA %= 3\nA **= 2", "A:int"),
    ("A = {int}\nA <<= 1\nA >>= 1\nA |= 1\nA &= 3\nA ^= 1", "A:int"),
    ("A = {float}\nA /= 2\nA += {int}", "A:float"),
    ("A: int = {int}", "A:int"),
    ("A: int = {int}\nB: float", "A:int"),
    ("A = B = {int}", "A:int B:int"),
    ("A = B = [{int}, 0]\nB[1] = {int}", "A:list"),
    ("A, B = {int}, {int}\nA, B = B, A", "A:int B:int"),
    ("A, *B = [{int}, *{list}]", "A:int B:list"),
    ("*A, B = (*{tup}, {int})\nA = A[:2]", "A:list B:int"),
    ("(A, B), C = {tup}, {int}", "A:int B:int C:int"),
    ("[A, B] = {list}", "A:int B:int"),
    ("A, B = {arr}", "A:int B:int"),
    ("A, B = {tup}, {str}\nA, C = A", "A:int C:int B:str"),
    ("A, B, C = {list}", "A:int B:int C:int"),
    ("if {bool}:\n    A = {int}\nelse:\n    A = {int}", "A:int"),
    ("if {bool}:\n    A = {int}\nelif {bool}:\n    A = {int}\nelse:\n    A = 0", "A:int"),
    ("A = {int}\nif A > {const}:\n    A = {const}\n    pass", "A:int"),
    ("if {int}:\n    A = 1\nelif {list}:\n    A = 2", "A:int"),
    ("if {bool}:\n    return {int}", ""),
    ("if {bool}:\n    return", ""),
    ("if {bool}:\n    return {str}, {int}", ""),
    ("A = 0\nfor B in range(3):\n    A += {int}", "A:int"),
    (
        "A = 0\nfor B in {list}:\n    if B == {const}:\n        continue\n    if B > {int}:\n        break\n    A += 1",
        "A:int",
    ),
    ("for A in {list}:\n    if A > {const}:\n        break\nelse:\n    A = {int}", "A:int"),
    ("for A in {arr}:\n    if A == {const}:\n        return A", ""),
    ("A = []\nfor B, C in enumerate({list}):\n    A.append(B * C)", "A:list"),
    ("A = 0\nfor B, C in zip({list}, {arr}):\n    A = A + B - C", "A:int"),
    ("A = []\nfor B in {dict}:\n    A += [B]\nA = len(A)", "A:int"),
    ("A = 0\nfor B, C in {dict}.items():\n    A += C if B == 'a' else 1", "A:int"),
    ("A = 0\nfor B in {mat}:\n    A += B[0]", "A:int"),
    (
        "A = 1\nfor B in [{int}]:\n    B += A\n    for C in (1, 2):\n"
        "        if C > B:\n            break\n        A += C",
        "A:int",
    ),
    ("A = 0\nwhile A < {int} and A < 3:\n    A += 1", "A:int"),
    ("A = 0\nwhile A < 3:\n    A += 1\n    if A > {int}:\n        break\nelse:\n    A = -1", "A:int"),
    (
        "A, B = {int}, 0\nwhile True:\n    B += 1\n    if B > 2 or B > A:\n        break\n"
        "    if B == 1:\n        continue\n    A -= 1",
        "A:int B:int",
    ),
    ("def A(B, C=1):\n    return B + C\nD = A({int})\nA = A(D, C={int})", "A:int D:int"),
    ("def A(*B, **C):\n    return len(B) + C.get('k', 0)\nD = A({int}, {int}, k={int})", "D:int"),
    ("def A(B, /, *, C=2):\n    return B * C\nD = A({int}, C=3) + A(1)", "D:int"),
    ("A = {int}\ndef B():\n    nonlocal A\n    A += 1\n    return A\nC = B() + B()", "A:int C:int"),
    ("A = []\ndef B(C):\n    A.append(C)\n    if C > 1:\n        return C\nB({int})\nB({int})", "A:list"),
    ("def A(B):\n    def C(D):\n        return D + B\n    return C\nE = A({int})({int})", "E:int"),
    ("def A(B):\n    return 1 if B <= 0 else B * A(B - 1)\nC = A(min(3, {int}))", "C:int"),
    ("A = [lambda C, B=B: C + B for B in range(2)]\nD = A[1]({int})", "D:int"),
    ("A = {int}\nB = lambda: A + 1\nA = 5\nC = B()", "C:int"),
    ("A = lambda B, *C, D=0, **E: B + len(C) + D + len(E)\nF = A({int}, 1, D={int}, k=2)", "F:int"),
    ("A = {list}\nA[0] = {int}\nA[-1] += {int}", "A:list"),
    ("A = {list}\nB = A\nB[0] = 7", "A:list"),
    ("A = {list}\nA[:1] = [{int}]\nA[1:] = ({int},)", "A:list"),
    (
        "A = {list}\nA.append({int})\nA.extend({tup})\nA.insert(0, {const})\nB = A.pop(0)\nA.reverse()\nA = A[:2]",
        "A:list B:int # list.append list.extend list.insert list.pop list.reverse",
    ),
    ("A = {list}\nA.sort()\nB = A[0]", "A:list B:int # list.sort"),
    ("A = {list}\nA.sort(key=lambda B: -B)", "A:list # list.sort"),
    ("A = {list}\nB = A.copy()\nA.clear()\nC = len(A)", "B:list C:int # list.copy list.clear"),
    ("A = {list}\nA += [{int}]\nA = A[1:]\nA *= 1", "A:list"),
    ("A = {tup}\nA += (1,)\nA = A[1:]", "A:tup"),
    ("A = {dict}\nA['c'] = {int}\nA['a'] += 1\nA['b'] = {int}\nB = A['c']", "A:dict B:int"),
    (
        "A = {dict}\nA.update({'b': {int}})\nA.update(a=1)\nB = A.setdefault('c', {int})\nC = A.pop('a')\nA['a'] = B",
        "A:dict B:int # dict.update dict.setdefault dict.pop",
    ),
    ("A = {dict}\nB = A.keys()\nA['z'] = 1\nC = len(B) + ('a' in A)", "C:int # dict.keys"),
    ("A = {}\nfor B in (1, 2, 1):\n    A[B] = A.get(B, 0) + {int}", "A:any # dict.get"),
    ("A = set()\nA.add(1)\nA.add({const})\nB = len(A) + (2 in A)", "B:int # set.add"),
    ("A = {1, 2, {const}}\nB = len(A)", "B:int"),
    ("A = {arr}.copy()\nA[0] = {int}\nA[1] += 1", "A:arr"),
    ("A = {arr}.copy()\nB = A[::-1]\nB[0] = 7", "A:arr B:arr"),
    ("A = {arr}.copy()\nA[A > {const}] = {int}", "A:arr"),
    ("A = {arr}.copy()\nA[{mask}] = 0\nA[[0, 0]] = [1, {int}]", "A:arr"),
    ("A = {arr}.copy()\nA += {arr}\nA *= 2\nA -= 1", "A:arr"),
    ("A = {arr}.copy()\nA /= 2", "A:arr"),
    ("A = {arr}.astype(float)\nA /= 2\nA[0] = {float}", "A:arr"),
    ("A = {mat}.copy()\nA[0] = {arr}\nA[:, 1] = {int}\nB = A[1]\nB[:] = 3", "A:mat B:arr"),
    ("A = {mat}.copy()\nB = A.T\nB[0, 1] = {int}", "A:mat"),
    ("A = {arr}.copy()\nB = A.reshape(1, 2)\nB[0, 0] = 9\nC = A[0]", "A:arr C:int"),
    ("A = {mat}.copy()\nB = A.reshape(4)\nB[0] = {int}", "A:mat"),
    ("A = {arr}.copy()\nA.sort()", "A:arr # array.sort"),
    ("A = {arr}.copy()\nB = A\nB += 1\nC = A.astype(int)\nC[0] = 4", "A:arr C:arr"),
    ("A = np.zeros(2)\nfor B in range(len(A)):\n    A[B] = {int}", "A:arr"),
    ("A = np.zeros(2, dtype=int)\nA[{mask}] = 1\nA[0] = {float}", "A:arr"),
    ("A = np.zeros(2)\nA[...] = {int}", "A:arr"),
    ("A = {arr}\nB = A if {bool} else A.copy()\nC = B[:1]", "B:arr C:any"),
    ("A = {arr}\ndef B(C):\n    C = C.copy()\n    C[0] = 0\n    return C\nD = B(A)", "D:arr"),
    ("assert {int} < {const} + 2", ""),
    ("assert {bool} or {bool}, 'no'", ""),
    ("assert {bool}", ""),
    ("if {bool}:\n    raise ValueError('no')", ""),
    ("if {bool}:\n    raise KeyError", ""),
    ("if {int} > 2:\n    raise TypeError('no', 1)", ""),
    ("with np.errstate(all='ignore'):\n    A = {int} + 1", "A:int"),
    ("with np.errstate(divide='ignore', invalid='ignore'):\n    A = np.divide({int}, {int})", "A:any"),
    ("import math as A\nB = A.floor({float})", "B:int"),
    ("import numpy as A\nB = A.abs({int})", "B:int"),
    ("from math import floor as A\nB = A({float})", "B:int"),
    ("A = {int}\nB = A\ndel A", "B:int"),
    ("'words'\nA = {int}  # words", "A:int"),
    ("if (A := {int}) > 1:\n    B = A\nelse:\n    B = -A", "A:int B:int"),
    ("while (A := {int}) > 9:\n    return A", "A:int"),
    ("A = [B := {int}, B + 1]\nC = [(D := E) for E in A]", "B:int D:int C:list"),
    ("A = {int}\nB = [A for A in (4, 5)]", "A:int B:list"),
    ("A = (B * 2 for B in {list})\nC = sum(A)\nD = sum(A)", "C:int D:int"),
    ("A = zip({list}, {tup})\nB = list(A)\nC = len(list(A))", "C:int B:any"),
    ("A = map(double, {list})\nB = list(A)\nC = any(A)", "B:list C:bool"),
    ("A = enumerate({list}, start=1)\nB = [C - D for C, D in A]", "B:list"),
    ("A = list(zip({list}, {tup}, strict=True))\nB = A[0][1]", "B:int"),
    ("A = {list}\nfor B in A:\n    if len(A) < 4:\n        A.append(B + 1)\nC = len(A)", "C:int"),
    ("A, B = rng.integers(0, 2), {int}\nC = A * B", "A:int C:int"),
    ("A = rng.random()\nB = A < 0.25 or {bool}", "B:bool"),
    ("A = {int} if rng.random() < 0.5 else {int}", "A:int"),
    ("A = rng.choice([{int}, {int}])", "A:int"),
    ("A = {list}\nrng.shuffle(A)", "A:list"),
    ("A = {arr}.copy()\nrng.shuffle(A)", "A:arr"),
    ("A = rng.permutation({arr})", "A:arr"),
    ("A = rng.permutation({list})", "A:arr"),
    ("A = rng.choice({arr}, size=2)", "A:arr"),
    ("A = rng.choice({list}, size=2, replace=False)", "A:arr"),
    ("A = rng.integers(0, 2, size=2) + {arr}", "A:arr"),
    ("A = rng.integers(0, 1, endpoint=True, size=(1,))[0] * {int}", "A:int"),
    ("A = rng.binomial(1, 0.25) + {int}", "A:int"),
    ("A = rng.binomial(1, [0.25, 0.5]) * {arr}", "A:arr"),
    ("A = np.where(rng.random(2) < 0.5, {arr}, {arr})", "A:arr"),
    ("A = np.where(rng.random(size=2) < [0.25, 0.5], 1, 0)", "A:arr"),
    ("A = [{int}, {int}][rng.integers(0, 2)]", "A:int"),
    ("A = {'up': {int}, 'down': 0}[rng.choice(['up', 'down'])]", "A:int"),
    ("A = 0\nwhile A < 2 and rng.random() < 0.5:\n    A += 1", "A:int"),
    ("A = rng.uniform(0, 1) < 0.25\nB = {int} if A else 0", "A:bool B:int"),
    ("A = noisy_of({int}, rng)", "A:int"),
    ("A = [noisy_of(B, rng) for B in {list}]", "A:list"),
    ("A = rng.random() < 0.25 * {int}", "A:bool"),
    ("A = 0.25 * {int} > rng.uniform(0.0, 2.0)", "A:bool"),
    ("A = rng.integers(0, 1 + abs({int}) % 3)", "A:int"),
    ("x[0] = {int}\nA = x[0] - 1", "A:int"),
    ("A = x\nA[1] = {int}\nB = x[1]", "B:int"),
    ("A = x[::-1]\nA[0] = {int}\nB = x[1]", "B:int"),
    ("x += {arr}\nA = x[0]", "A:int"),
    ("x = {arr}\nA = x[0]", "A:int"),
    ("A = x.reshape(1, 2)\nA[0, 1] = {int}\nB = x[1]", "B:int"),
    ("A = rng.binomial(abs({int}) % 3, 0.5)", "A:int"),
    ("A = rng.choice(2, p=[0.25, 0.75] if {bool} else [0.5, 0.5])", "A:int"),
)

# What the prover does not model: functions that read the data and return an integer.
UNLISTED: tuple[tuple[str, str], ...] = (
    ("A = int(str({int}))", "str of a number"),
    ("A = int(repr({int})[-1] == '1')", "repr"),
    ("B = {int}\nA = int(f'{B:d}')", "an f-string of a number"),
    ("A = int(format({int}, 'd'))", "format"),
    ("A = hash(int({int})) % 5", "hash"),
    ("A = int(isinstance({int}, Tricky))", "isinstance with a class of its own"),
    ("A = Tricky({int})\nA = int(A == 1)", "a class with __eq__"),
    ("A = int({int} == Tricky(1))", "a number compared with an object with __eq__"),
    ("A = Tricky({int}) + 1", "a class with __add__"),
    ("A = sum(Tricky({int}))", "a class with __iter__"),
    ("A = len(Tricky({int}))", "a class with __len__"),
    ("A = int(Tricky({int}))", "a class with __int__"),
    ("A = Tricky({int})[0]", "a class with __getitem__"),
    ("try:\n    A = 1 // {int}\nexcept ZeroDivisionError:\n    A = 7", "try"),
    ("try:\n    A = [5, 6][{int}]\nexcept IndexError:\n    A = 7\nfinally:\n    pass", "try"),
    ("global LAST\nLAST = {int}\nA = LAST", "global"),
    ("SEEN.append({int})\nA = SEEN[-1]", "a list of the module is written"),
    ("STATE['last'] = {int}\nA = STATE['last']", "a dict of the module is written"),
    ("double.last = {int}\nA = double.last", "an attribute of a function is written"),
    ("STORE[0] = {int}\nA = STORE[0]", "an array of the module is written"),
    ("A = x.tobytes()[0] + {int} * 0", "tobytes"),
    ("A = len(bytes(abs(int({int}))))", "bytes"),
    ("A = int(memoryview(x)[0])", "memoryview"),
    ("A = x.data[0]", "data of an array"),
    ("A = x.flat[1]", "flat of an array"),
    ("A = x.view(np.int64)[0]", "view"),
    ("A = x.__array_interface__['shape'][0] * x[0]", "__array_interface__"),
    ("A = len(type({int}).__name__) + {int}", "type(v).__name__"),
    ("A = int(type({int}) is int) + {int}", "type()"),
    ("A = {int}.__class__.__name__\nA = len(A) + {int}", "__class__"),
    ("A = {int} if id(x) > 0 else 0", "id"),
    ("A = {int} if time.time() > 0 else 0", "time"),
    ("A = {int} if os.environ.get('NOT_SET_ANYWHERE') is None else 0", "os.environ"),
    ("A = int(np.random.default_rng(int(x[0])).integers(0, 3))", "np.random"),
    ("np.random.seed(int(x[0]))\nA = int(np.random.randint(0, 3))", "np.random"),
    ("A = int(random.Random(int({int})).random() * 4)", "random"),
    ("A = getattr(x, 'su' + 'm')()", "getattr with a computed name"),
    ("A = getattr({int}, '__index__')()", "getattr"),
    ("setattr(double, 'last', {int})\nA = double.last", "setattr"),
    ("A = vars()['x'][0]", "vars"),
    ("A = locals()['x'][0]", "locals"),
    ("A = eval('x[0]')", "eval"),
    ("A = eval('x[0]', {'x': x})", "eval"),
    ("A = globals()['double']({int})", "globals"),
    ("match int({int}):\n    case 0:\n        A = 5\n    case _:\n        A = 6", "match"),
    ("def B():\n    yield {int}\nA = list(B())[0]", "yield"),
    ("def B():\n    yield from [{int}]\nA = sum(B())", "yield from"),
    ("class B:\n    C = {int}\nA = B.C", "a class inside"),
    ("@twice\ndef B(C):\n    return C + 1\nA = B({int})", "a decorator inside"),
    ("A = decorated({int})", "a decorated function of the module"),
    ("A = cached(int({int}))", "functools.cache"),
    ("A = next(iter([{int}]))", "iter and next"),
    ("A = [B for B in {3, int({int})}][-1]", "a set is gone over"),
    ("A = list({int: 1 for int in [{int}]})[0]", "a number is a key"),
    ("A = {0: 5, 1: 6}.get({int}, 7)", "a number is a key"),
    ("A = functools.reduce(lambda B, C: B * 2 + C, {list})", "functools.reduce"),
    ("A = operator.add({int}, 1)", "operator"),
    ("A = max(collections.Counter({list}).values())", "collections.Counter"),
    ("A = next(itertools.accumulate([{int}, 1]))", "itertools"),
    ("A = heapq.nlargest(1, {list})[0]", "heapq"),
    ("A = bisect.bisect([0, 1, 2], {int})", "bisect"),
    ("A = int(Fraction({int}, 2))", "Fraction"),
    ("A = int(Decimal(int({int})))", "Decimal"),
    ("A = int(re.match('[0-9]*', str({int})) is None) + {int}", "re"),
    ("A = json.loads(json.dumps(int({int})))", "json"),
    ("A = copy.deepcopy([{int}])[0]", "copy"),
    ("A = int(np.array2string(x)[1])", "np.array2string"),
    ("A = int(np.fromiter((B for B in {list}), int)[0])", "np.fromiter"),
    ("A = np.vectorize(lambda B: int(B) + 1)({list})[0]", "np.vectorize"),
    ("A = np.apply_along_axis(sum, 0, {arr})\nA = int(A)", "np.apply_along_axis"),
    ("A = np.empty(2, int)\nA[:] = {arr}\nA = A[0]", "np.empty"),
    ("A = int(x.ctypes.data > 0) * {int}", "ctypes"),
    ("A = complex({int}).real", "complex"),
    ("A = int(chr(48 + abs(int({int}))))", "chr"),
    ("A = int(bin(abs(int({int}))), 2)", "bin"),
    ("A = int({str}.join(['1', '2'])[:1]) + {int}", "str.join"),
    ("A = slice({int}).stop", "slice"),
    ("A = sum(x.__iter__())", "a special method is called"),
    ("A = ({int}).__abs__()", "a special method is called"),
    ("A = x.__getitem__(0)", "a special method is called"),
    ("A = int(x[0]).__add__(1)", "a special method is called"),
    ("A = int(callable(x)) + {int}", "callable"),
    ("A = {int} if x.flags.writeable else 0", "flags"),
    ("A = x.strides[0] * {int}", "strides"),
    ("A = {list}\nA[{int}] = 9\nA = A[0]", "a place of a list is a number of the data"),
    ("A = int(np.subtract(x, 1, out=np.zeros(2, int))[0])", "out="),
    ("A = int(np.sum(x, where=[True, False]))", "where="),
    ("A = rng.bit_generator.random_raw() * 0 + x[0]", "bit_generator"),
    ("print({int}, file=open(os.devnull, 'w'))\nA = {int}", "print"),
    ("A = (lambda: (yield {int}))().send(None)", "send"),
    ("A = sys.getrefcount(x) * 0 + x[0]", "sys"),
    ("A = LAZY.value + {int}", "an object that computes its attributes"),
    ("A = PROPERTY.value + {int}", "a property"),
    ("A = COUNTER({int})", "an object with a memory"),
    ("A = x.sum(dtype=np.int8)", "dtype= of a method"),
    ("A = (x > 0).view(np.int8)[0]", "view"),
    ("A = x.searchsorted({int})", "a method that is not listed"),
    ("A = int(np.packbits(x > 0)[0])", "np.packbits"),
    ("A = int(np.einsum('i,i', x, x))", "np.einsum"),
    ("A = int(np.triu_indices(2)[0][x[0]])", "np.triu_indices"),
)

MODULE = '''\
import bisect, collections, copy, functools, heapq, itertools, json, math, operator, os, random, re, sys, time
from decimal import Decimal
from fractions import Fraction

import numpy as np

LEVEL = 1
TABLE = ((0.5, 0.25, 0.25), (0.25, 0.25, 0.5), (0.25, 0.5, 0.25))
WEIGHTS = np.array([1, 2])
SEEN, STATE, LAST = [0], {"last": 0}, 0
STORE = np.zeros(2, int)


def double(value):
    return 2 * value


def helper(a, b=1, *more, scale=1, **named):
    """Words."""
    return (a - b) * scale + sum(more) + len(named)


def named(**values):
    return values["a"] + len(values)


def pair(value, other=(1, 2)):
    return value, other[1]


def next_of(value):
    if value > 1:
        return 0
    return value + 1


def noisy_of(value, rng):
    return value if rng.random() < 0.75 else 1


partial_double = functools.partial(helper, b=0, scale=2)


class Point:
    steps = 2

    def __init__(self, x):
        self.x = x

    def moved(self, by):
        return self.x + self.steps * by


class Tricky:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other + 0 if not isinstance(other, Tricky) else False

    def __add__(self, other):
        return self.value + other

    def __iter__(self):
        return iter([self.value, 1])

    def __len__(self):
        return abs(int(self.value)) % 3

    def __int__(self):
        return int(self.value)

    def __getitem__(self, place):
        return self.value


class Lazy:
    def __getattr__(self, name):
        return 3


class Property:
    @property
    def value(self):
        return 3


class Counter:
    def __init__(self):
        self.seen = 0

    def __call__(self, value):
        self.seen = value
        return self.seen


POINT, LAZY, PROPERTY, COUNTER = Point(3), Lazy(), Property(), Counter()


def twice(function):
    return lambda value: function(function(value))


@twice
def decorated(value):
    return value + 1


@functools.cache
def cached(value):
    return value + 1

'''

# Draws whose distribution depends on the data, for each family, with the names whose values are (nearly) private afterwards.
FINITE: tuple[tuple[str, str], ...] = (
    ("assert noisy_of(x[0], rng) > 0", ""),
    ("if noisy_of(x[0], rng) > 1:\n    raise ValueError('large')", ""),
    ("if rng.random() < 0.25 * (1 + x[0]):\n    return 5", ""),
    ("A = 0\nfor B in x:\n    if B + rng.integers(0, 3) > 2:\n        continue\n    A += 1", "A:int"),
    ("for A in (1, 2):\n    if rng.random() < 0.25 * (1 + x[0]):\n        break\nelse:\n    A = 0", "A:int"),
    ("A = x[0] if rng.random() < 0.75 else rng.integers(0, 3)", "A:int"),
    ("A = int(x[1]) if rng.random() < 0.5 else int(rng.integers(3))", "A:int"),
    ("A = rng.integers(0, 3)\nif rng.random() >= 0.5:\n    A = x[0]", "A:int"),
    ("A = rng.random() < 0.25 * (1 + x[0])", "A:bool"),
    ("A = int(rng.random() < 0.25 + 0.25 * x[1])", "A:int"),
    ("A = rng.random(2) < 0.25 * (1 + x)", "A:mask"),
    ("A = (rng.random(size=2) < (x + 1) / 4).astype(int)", "A:arr"),
    ("A = 1 - rng.uniform() > 0.25 * max(1, x[0])", "A:bool"),
    ("A = rng.uniform(0, 2) > 0.5 + 0.5 * x[0]\nB = 1 if A else 2", "A:bool B:int"),
    ("A = rng.choice(3, p=TABLE[x[0]])", "A:int"),
    ("A = rng.choice([0, 1, 5], p=TABLE[int(x[1])])", "A:int"),
    ("A = rng.choice(['up', 'down'], p=[0.25, 0.75] if x[0] > 0 else [0.5, 0.5])\nA = 1 if A == 'up' else 0", "A:int"),
    ("A = rng.choice(2, size=2, p=[0.25 + 0.25 * x[0], 0.75 - 0.25 * x[0]])", "A:arr"),
    ("A = rng.binomial(2, 0.25 + 0.25 * x[0])", "A:int"),
    ("A = rng.binomial(1, 0.25 * (1 + x))", "A:arr"),
    ("A = rng.binomial(1, 0.25, size=2) ^ (x > 1)", "A:arr"),
    ("A = rng.permutation(3)\nB = (x[0] + A[0]) % 3", "B:int"),
    ("A = rng.permutation([0, 1, 2])[x[0]]", "A:int"),
    ("A = [0, 1, 2]\nrng.shuffle(A)\nB = A[x[1]]", "B:int"),
    ("A = np.arange(3)\nrng.shuffle(A)\nB = int(A[0] == x[0])", "B:int"),
    ("A = rng.permutation(2)\nB = x[A[0]] if rng.random() < 0.5 else 1", "B:int"),
    ("A = noisy_of(x[0], rng)", "A:int"),
    ("A = (x[0] + rng.integers(0, 3)) % 3", "A:int"),
    ("A = [noisy_of(B, rng) for B in x]", "A:list"),
    ("A = int(x[0] > 1) ^ int(rng.random() < 0.25)", "A:int"),
    ("A = (x[0] > 0) != (rng.random() < 0.25)", "A:bool"),
    ("A = rng.choice(x)\nB = A if rng.random() < 0.25 else 0", "B:int"),
    ("A = rng.integers(0, 4)\nB = A <= x[0]", "B:bool"),
    ("A = 0\nwhile A < 2 and rng.random() < 0.25 * (1 + x[0]):\n    A += 1", "A:int"),
    ("A = rng.integers(1, 3 + x[0])", "A:int"),
    ("A = {'a': noisy_of(x[0], rng), 'b': noisy_of(x[1], rng)}", "A:dict"),
)
GEOMETRIC: tuple[tuple[str, str], ...] = (
    ("assert x[0] + rng.geometric(0.75) - rng.geometric(0.75) > 1", ""),
    ("if x[0] + rng.geometric(0.5) - rng.geometric(0.5) > 1:\n    return 5", ""),
    ("A = x[0] + rng.geometric(0.5) - rng.geometric(0.5)", "A:int"),
    ("A = x[0] + rng.geometric(0.75) - rng.geometric(0.75)", "A:int"),
    ("A = int(x[1]) + int(rng.geometric(0.5)) - int(rng.geometric(0.5))", "A:int"),
    ("A = rng.geometric(0.75) - rng.geometric(0.75)\nA += x[1]", "A:int"),
    ("A = x[0] - x[1] + rng.geometric(0.75) - rng.geometric(0.75)", "A:int"),
    ("A, B = rng.geometric(0.75, size=2)\nA = A - B + x[0]", "A:int"),
    ("A = x + rng.geometric(0.75) - rng.geometric(0.75)", "A:arr"),
    ("A = max(x[0], x[1]) + rng.geometric(0.5) - rng.geometric(0.5)", "A:int"),
    ("A = 2 * x[0] + rng.geometric(0.5) - rng.geometric(0.5)", "A:int"),
    ("A = float(x[0]) + rng.geometric(0.75) - rng.geometric(0.75)", "A:float"),
    ("A = (x[0] + rng.geometric(0.75) - rng.geometric(0.75)) * (1 if rng.random() < 0.5 else -1)", "A:int"),
    ("A = rng.geometric(0.75) - rng.geometric(0.75)\nB = x[0] + A > 1\nC = x[1] + A <= 1", "B:bool C:bool"),
    ("A = x[0] + rng.geometric(0.5) - rng.geometric(0.5)\nB = x[0] if rng.random() < 0.5 else 1", "A:int"),
    ("A = np.array([x[0], x[1]])\nA[0] += rng.geometric(0.75) - rng.geometric(0.75)\nA = np.tile(A[:1], 2)", "A:arr"),
    ("A = x[0] + rng.geometric(0.5)", "A:int"),
    ("A = 1 if x[0] + rng.geometric(0.5) > 2 else 0", "A:int"),
    ("A = rng.geometric(0.75 if x[0] > 1 else 0.5)\nA = min(A, 3)", "A:int"),
    ("A = x[0] + 2 * (rng.geometric(0.5) - rng.geometric(0.5))", "A:int"),
)
# A noisy number ``nz`` with {law} noise is only compared, and with multiples of 1/2 alone.
CONTINUOUS: tuple[tuple[str, str], ...] = (
    ("A = x[0] + rng.laplace(0.0, 2.0)", "A:nz"),
    ("A = x[1] + rng.laplace(scale=1.0)", "A:nz"),
    ("A = rng.laplace(x[0], 1.5)", "A:nz"),
    ("A = float(x[0]) - rng.laplace(0, 1)", "A:nz"),
    ("A = x[0] - x[1] + rng.laplace(0.0, 2.0)", "A:nz"),
    ("A = (x + rng.laplace(0.0, 2.0))[0]", "A:nz"),
    ("A = x.sum() + rng.laplace(0.0, 2.0)", "A:nz"),
    ("A = x + rng.laplace(0.0, 1.0, size=2)\nA, B = A[0], A[1]", "A:nz B:nz"),
    ("A = x[0] + rng.logistic(0.0, 1.0)", "A:nz"),
    ("A = x[0] + rng.gumbel(0.0, 1.0)", "A:nz"),
    ("A = x[0] - rng.exponential(1.0)", "A:nz"),
    ("A = x[0] + rng.standard_exponential()", "A:nz"),
    ("A = rng.standard_normal()\nB = x[0] + rng.laplace(0.0, 2.0)", "A:nz B:nz"),
    ("A = rng.normal(0.0, 2.0)\nB = x[0] if rng.random() < 0.5 else 1", "A:nz B:int"),
    ("A = x[0] + rng.normal(0.0, 1.0)", "A:nz"),
    ("A = rng.laplace(0.0, 2.0)\nB = x[1] + A", "A:nz B:nz"),
    ("A = x[0] + (rng.laplace(0.0, 2.0) if rng.random() < 0.5 else rng.laplace(0.0, 1.0))", "A:nz"),
    ("A = max(x[0], 1) + rng.laplace(0.0, 2.0)", "A:nz"),
    ("A = np.array([x[0], 1.0]) + rng.laplace(0.0, 2.0)\nA = A[0]", "A:nz"),
    ("A = x[0] + rng.laplace(0.0, 1.0 + x[1])", "A:nz"),
    ("A = rng.uniform(-1.0, 1.0) + x[0]", "A:nz"),
)
COMPARED = several("""
    {nz} > {const}   {nz} >= {half}   {nz} < {const}   {half} <= {nz} < {const}   {nz} > x[1]   x[0] < {nz}
    not {nz} > {const}   {nz} + {const} > 1   {nz} - x[1] >= 0   -{nz} < {const}   2 * {nz} > {const}
    {nz} / 2 > {half}   abs({nz}) > {pos}   {nz} == {const}   round({nz}) > {const}   int({nz}) >= {const}
    math.floor({nz}) == {const}   np.floor({nz}) > {const}   np.ceil({nz}) <= {const}   max({nz}, {const}) > 1
    min({nz}, {half}) >= 0   np.maximum({nz}, 0.0) > {const}   np.clip({nz}, 0, 2) >= {half}   np.sign({nz}) > 0
    np.argmax([{nz}, {const}]) == 0   np.argmax(np.array([{const}, {nz}, {half}])) == 1   sorted([{nz}, {half}])[0] < 1
    max([{nz}, 1.0]) > {const}   np.where({nz} > {const}, 1, 0) == 1   any(A < {nz} for A in (0, {const}))
    all(A > {nz} for A in [1.5, {const}])   {nz} > 0 and {nz} < 2   bool({nz} >= {const} or {nz} < -1)
    (lambda A: A > {half})({nz})   np.any(np.array([{nz}, {half}]) > 1)
    min([{const}, {const}], key=lambda A: abs(A - {nz})) == {const}
    np.count_nonzero(np.array([{nz}, 0.5]) > {const}) == 1   np.exp({nz}) > 1
    np.searchsorted([0.0, 1.0], {nz}) == {pos}   int({nz} > 0) + int({nz} > 1) == {pos}   helper({nz}, 1) > {const}
    {nz} != 1   {nz} // 1 == {const}   float({nz}) <= {half}   np.sort([{nz}, 1.0])[1] > {const}
    np.rint({nz}) == {const}   math.isfinite({nz})   np.argmin([{nz}, {half}]) == 1   ({nz} > 0) == ({nz} > 1)
    ({nz} > {const} if x[1] > 0 else {nz} < 1)   {nz} < math.inf
""")
