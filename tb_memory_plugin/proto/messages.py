"""Message classes made at run time from a subset of the text of a ``.proto`` file.

Generated ``_pb2`` modules run with one range of protobuf versions only; descriptors made here run
with every one. Fields that a subset leaves out are skipped when a message is parsed, as are those
that later versions of a format add.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.protobuf.message import Message

_MESSAGE = re.compile(r"message\s+(\w+)\s*\{([^{}]*)\}")
_FIELD = re.compile(r"(repeated\s+)?(\w+)\s+(\w+)\s*=\s*(\d+)\s*;")
_COMMENT = re.compile(r"//[^\n]*")


def message_classes(package: str, source: str) -> dict[str, type[Message]]:
    """The messages of ``source`` by name, in a pool of their own.

    ``source`` has messages side by side, with fields of scalar types and of each other. Declare
    text as ``bytes`` where a file may hold text that is not UTF-8: a ``string`` would make the
    whole message unreadable. Raises ValueError for what is neither.
    """
    # Imported when a file is read: TensorBoard's start pays nothing for it.
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    bare = _COMMENT.sub("", source)
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{package}.proto", package=package, syntax="proto3"
    )
    found = _MESSAGE.findall(bare)
    names = [name for name, _ in found]
    kinds = descriptor_pb2.FieldDescriptorProto
    for name, body in found:
        message = file.message_type.add(name=name)
        for repeated, kind, field, number in _FIELD.findall(body):
            added = message.field.add(name=field, number=int(number))
            added.label = kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL
            if kind in names:
                added.type, added.type_name = kinds.TYPE_MESSAGE, f".{package}.{kind}"
            else:
                added.type = kinds.Type.Value(f"TYPE_{kind.upper()}")
        if _FIELD.sub("", body).strip():
            raise ValueError(f"message {name} has a field that cannot be understood")
    if _MESSAGE.sub("", bare).strip():
        raise ValueError(f"{package} has text outside of messages")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    made = getattr(message_factory, "GetMessageClass", None)
    if made is None:  # before protobuf 4.22
        made = message_factory.MessageFactory(pool).GetPrototype
    return {name: made(pool.FindMessageTypeByName(f"{package}.{name}")) for name in names}
