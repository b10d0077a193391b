"""The part of pprof's ``profile.proto`` that a profile of memory is read from."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tb_memory_plugin.proto.messages import message_classes

if TYPE_CHECKING:
    from google.protobuf.message import Message

#: Numbers of type int64 that name text are places in ``string_table``, whose first is empty.
SOURCE = """
message Profile {
  repeated ValueType sample_type = 1;
  repeated Sample sample = 2;
  repeated Location location = 4;
  repeated Function function = 5;
  repeated bytes string_table = 6;  // text; bytes, so that a name that is not UTF-8 harms no other
}
message ValueType {
  int64 type = 1;
  int64 unit = 2;
}
message Sample {
  repeated uint64 location_id = 1;  // innermost first
  repeated int64 value = 2;  // one for each sample_type
  repeated Label label = 3;
}
message Label {
  int64 key = 1;
  int64 str = 2;
}
message Location {
  uint64 id = 1;  // not 0
  uint64 address = 3;
  repeated Line line = 4;  // functions that were inlined here, innermost first
}
message Line {
  uint64 function_id = 1;
  int64 line = 2;
}
message Function {
  uint64 id = 1;  // not 0
  int64 name = 2;
  int64 system_name = 3;
  int64 filename = 4;
}
"""


@cache
def profile_class() -> type[Message]:
    """The class of the message ``Profile``."""
    return message_classes("tb_memory_plugin.pprof", SOURCE)["Profile"]
