"""The part of XLA's ``hlo.proto`` and ``xla_data.proto`` that the compiler's plan for memory is in.

Shapes stay bytes in their instruction, and in a tuple: a module has few distinct ones, of which
each is decoded once. Text is bytes, so that a name that is not UTF-8 harms no other.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tb_memory_plugin.proto.messages import message_classes

if TYPE_CHECKING:
    from google.protobuf.message import Message

SOURCE = """
message HloProto {
  HloModule hlo_module = 1;
  BufferAssignment buffer_assignment = 3;
}
message HloModule {
  bytes name = 1;
  bytes entry_computation_name = 2;
  repeated HloComputation computations = 3;
  int64 id = 5;
  int64 entry_computation_id = 6;
  Schedule schedule = 7;
  InputOutputAlias input_output_alias = 8;
  StackFrameIndex stack_frame_index = 17;
  BufferDonors buffer_donor = 18;
}
message HloComputation {
  bytes name = 1;
  repeated HloInstruction instructions = 2;
  int64 id = 5;
  int64 root_id = 6;
}
message HloInstruction {
  bytes name = 1;
  bytes opcode = 2;
  bytes shape = 3;  // Shape
  OpMetadata metadata = 7;
  int64 parameter_number = 9;
  int64 id = 35;
  repeated int64 operand_ids = 36;
  repeated int64 called_computation_ids = 38;
  bytes backend_config = 43;
}
message OpMetadata {
  bytes op_type = 1;
  bytes op_name = 2;
  bytes source_file = 3;
  int32 source_line = 4;
  int32 stack_frame_id = 15;
}
message Schedule {
  repeated ScheduleEntry sequences = 1;  // a map
}
message ScheduleEntry {
  int64 key = 1;
  InstructionSequence value = 2;
}
message InstructionSequence {
  repeated int64 instruction_ids = 1;
}
message InputOutputAlias {
  repeated AliasEntry entries = 1;
}
message AliasEntry {
  repeated int64 output_shape_index = 1;
  int64 parameter_number = 2;
  repeated int64 parameter_shape_index = 3;
}
message BufferDonors {
  repeated BufferDonor entries = 1;
}
message BufferDonor {
  int64 parameter_number = 1;
  repeated int64 parameter_shape_index = 2;
}
message StackFrameIndex {
  repeated bytes file_names = 1;
  repeated bytes function_names = 2;
  repeated FileLocation file_locations = 3;
  repeated StackFrame stack_frames = 4;
}
message FileLocation {
  int32 file_name_id = 1;
  int32 function_name_id = 2;
  int32 line = 3;
}
message StackFrame {
  int32 file_location_id = 1;
  int32 parent_frame_id = 2;
}
message Shape {
  int32 element_type = 2;
  repeated int64 dimensions = 3;
  repeated bytes tuple_shapes = 4;  // Shape
  Layout layout = 5;
  repeated bool is_dynamic_dimension = 6;
}
message Layout {
  repeated int64 minor_to_major = 1;
  repeated Tile tiles = 6;
  int64 element_size_in_bits = 7;
  int64 memory_space = 8;
}
message Tile {
  repeated int64 dimensions = 1;
}
message BufferAssignment {
  repeated LogicalBuffer logical_buffers = 1;
  repeated BufferAllocation buffer_allocations = 3;
  repeated HeapTrace heap_simulator_traces = 4;
}
message LogicalBuffer {
  int64 id = 1;
  int64 size = 2;
  Location defined_at = 3;
  int64 color = 4;
}
message Location {
  bytes instruction_name = 2;
  repeated int64 shape_index = 3;
  int64 instruction_id = 4;
}
message BufferAllocation {
  int64 index = 1;
  int64 size = 2;
  bool is_thread_local = 3;
  bool is_entry_computation_parameter = 5;
  int64 parameter_number = 6;
  bool maybe_live_out = 7;
  int64 color = 8;
  repeated Assigned assigned = 9;
  repeated int64 parameter_shape_index = 10;
  bool is_tuple = 11;
  bool is_constant = 12;
}
message Assigned {
  int64 logical_buffer_id = 1;
  int64 offset = 2;
  int64 size = 3;
}
message HeapTrace {
  repeated HeapEvent events = 1;
  bool whole_module_simulation = 2;
  int64 buffer_allocation_index = 3;
}
message HeapEvent {
  int32 kind = 1;  // 0 ALLOC, 1 FREE, 2 SHARE_WITH
  int64 buffer_id = 2;
  bytes computation_name = 3;
  bytes instruction_name = 4;
  int64 share_with_canonical_id = 5;
}
"""


@cache
def hlo_classes() -> dict[str, type[Message]]:
    """The messages of :data:`SOURCE` by name."""
    return message_classes("tb_memory_plugin.hlo", SOURCE)
