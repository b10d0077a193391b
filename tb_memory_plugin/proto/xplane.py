"""The part of the profiler's ``xplane.proto`` that memory is read from.

Events stay bytes in their line: there may be millions, of which a columnar decoder takes what it
needs (see ``readers.xplane_events``). Text is bytes, so that a name that is not UTF-8 harms no
other.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tb_memory_plugin.proto.messages import message_classes

if TYPE_CHECKING:
    from google.protobuf.message import Message

SOURCE = """
message XSpace {
  repeated XPlane planes = 1;
  repeated bytes hostnames = 4;
}
message XPlane {
  bytes name = 2;
  repeated XLine lines = 3;
  repeated EventMetadataEntry event_metadata = 4;  // a map
  repeated StatMetadataEntry stat_metadata = 5;  // a map
  repeated XStat stats = 6;
}
message XLine {
  bytes name = 2;
  int64 timestamp_ns = 3;
  repeated bytes events = 4;  // XEvent
  bytes display_name = 11;
}
message EventMetadataEntry {
  int64 key = 1;
  EventMetadata value = 2;
}
message StatMetadataEntry {
  int64 key = 1;
  Metadata value = 2;
}
message EventMetadata {
  bytes name = 2;
  bytes display_name = 4;
  repeated bytes stats = 5;  // XStat
}
message Metadata {
  bytes name = 2;
}
message XEvent {
  int64 metadata_id = 1;
  int64 offset_ps = 2;  // since the line's timestamp
  int64 duration_ps = 3;
  repeated XStat stats = 4;
}
message XStat {  // one value each
  int64 metadata_id = 1;
  double double_value = 2;
  uint64 uint64_value = 3;
  int64 int64_value = 4;
  bytes str_value = 5;
  uint64 ref_value = 7;  // key of the stat_metadata whose name is the text
}
// Of the plane /host:metadata, whose events are HLO modules.
message ModuleEntry {
  int64 key = 1;
  ModuleMetadata value = 2;
}
message ModuleMetadata {
  bytes name = 2;
  repeated ModuleStat stats = 5;
}
message ModuleStat {
  bytes bytes_value = 6;  // an HloProto
}
"""


@cache
def xplane_classes() -> dict[str, type[Message]]:
    """The classes of the messages by name."""
    return message_classes("tb_memory_plugin.xplane", SOURCE)
