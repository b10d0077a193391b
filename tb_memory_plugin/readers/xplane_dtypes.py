"""Numbers of TensorFlow's ``DataType`` (tensorflow/core/framework/types.proto), as words."""

_NAMES = {
    1: "float",
    2: "double",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "string",
    8: "complex64",
    9: "int64",
    10: "bool",
    11: "qint8",
    12: "quint8",
    13: "qint32",
    14: "bfloat16",
    15: "qint16",
    16: "quint16",
    17: "uint16",
    18: "complex128",
    19: "half",
    20: "resource",
    21: "variant",
    22: "uint32",
    23: "uint64",
    24: "float8_e5m2",
    25: "float8_e4m3fn",
    26: "float8_e4m3fnuz",
    27: "float8_e4m3b11fnuz",
    28: "float8_e5m2fnuz",
    29: "int4",
    30: "uint4",
    31: "int2",
    32: "uint2",
}
_REFERENCE = 100


def dtype_name(number: int) -> str:
    """What TensorFlow calls a data type; nothing for 0, which is none."""
    if number <= 0:
        return ""
    if number > _REFERENCE and number - _REFERENCE in _NAMES:
        return f"{_NAMES[number - _REFERENCE]}_ref"
    return _NAMES.get(number, f"data type {number}")
