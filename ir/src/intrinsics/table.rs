//! The table of intrinsics. A row reads
//!
//! ```text
//! Variant "name" Kind: (components "role" of each source, ...) -> components [bit sizes], [constant indices], [flags],
//!     "meaning";
//! ```
//!
//! Components are a number, `N` (the `num_components` of the instruction) or `any` (not checked); the result may be
//! `none`. The bit sizes of the result are a list, `any`, or `src k` (the size of source k).

use super::intrinsic_table;

intrinsic_table! {
    // register
    DeclReg "decl_reg" Register: () -> 1 [any], [NumComponents NumArrayElems BitSize Divergent], [CAN_ELIMINATE],
        "Declares a mutable register and yields its 32-bit scalar handle; only allowed in the start block. num_components and bit_size give one element, num_array_elems = 0 means plain register, > 0 an array of that many elements. divergent is a hint. The use list of the handle is the def/use list of the register. The handle may only be used as the register operand of load_reg*/store_reg* (and as operand of a parallel copy during out-of-SSA).";
    LoadReg "load_reg" Register: (1 "handle") -> N [any], [Base LegacyFabs LegacyFneg], [CAN_ELIMINATE],
        "Reads element base of the register. Result has the shape of the register. legacy_fabs then legacy_fneg are applied to the value (abs first, then negate).";
    LoadRegIndirect "load_reg_indirect" Register: (1 "handle", 1 "index") -> N [any], [Base LegacyFabs LegacyFneg], [CAN_ELIMINATE],
        "Reads element base + index (index is a 32-bit scalar). Only for array registers. Same modifiers.";
    StoreReg "store_reg" Register: (N "value", 1 "handle") -> none, [Base WriteMask LegacyFsat], [],
        "Writes the components of write_mask of value into element base; component i goes to component i. legacy_fsat clamps to [0,1] first. value has the full width of the register even when the mask is partial.";
    StoreRegIndirect "store_reg_indirect" Register: (N "value", 1 "handle", 1 "index") -> none, [Base WriteMask LegacyFsat], [],
        "As store_reg at element base + index.";

    // deref
    LoadDeref "load_deref" Deref: (any "deref") -> N [any], [Access], [CAN_ELIMINATE],
        "Loads the scalar or vector the pointer designates.";
    StoreDeref "store_deref" Deref: (any "deref", N "value") -> none, [WriteMask Access], [],
        "Stores the components in write_mask; not allowed on read-only modes.";
    CopyDeref "copy_deref" Deref: (any "dst deref", any "src deref") -> none, [DstAccess SrcAccess], [],
        "Copies a whole value of any type (struct, array, wildcard paths) between two derefs with equal bare types.";
    MemcpyDeref "memcpy_deref" Deref: (any "dst deref", any "src deref", 1 "byte count") -> none, [DstAccess SrcAccess], [],
        "Byte copy between two pointers.";
    DerefBufferArrayLength "deref_buffer_array_length" Deref: (any "deref of the unsized array") -> 1 [any], [Access], [CAN_ELIMINATE CAN_REORDER],
        "Length of the trailing unsized array of a buffer block.";
    DerefImplicitArrayLength "deref_implicit_array_length" Deref: (any "deref") -> 1 [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Length of an implicitly sized array.";
    DerefModeIs "deref_mode_is" Deref: (any "pointer") -> 1 [any], [MemoryModes], [CAN_ELIMINATE CAN_REORDER],
        "True when the generic pointer has the single mode named by memory_modes.";
    AddrModeIs "addr_mode_is" Deref: (any "address") -> 1 [any], [MemoryModes], [CAN_ELIMINATE CAN_REORDER],
        "Same after explicit-io lowering.";
    DerefTextureSrc "deref_texture_src" Deref: (1 "deref or handle") -> 1 [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Placeholder texture source resolved after inlining.";

    // function
    LoadParam "load_param" Function: () -> N [any], [ParamIdx], [CAN_ELIMINATE],
        "Value of parameter param_idx of the current function.";

    // memory
    LoadUniform "load_uniform" Memory: (1 "offset") -> N [any], [Base Range DestType], [CAN_ELIMINATE CAN_REORDER],
        "Default-block uniform at base + offset (units chosen by the lowering; vec4 slots for TGSI), range = extent that may be read (0 unknown).";
    LoadUbo "load_ubo" Memory: (any "buffer index", 1 "byte offset") -> N [any], [Access AlignMul AlignOffset RangeBase Range], [CAN_ELIMINATE CAN_REORDER],
        "Uniform buffer read; [range_base, range_base+range) bounds the access, range must be nonzero; align_mul/align_offset describe the offset.";
    LoadUboVec4 "load_ubo_vec4" Memory: (any "buffer index", 1 "vec4 offset") -> N [any], [Access Base Component], [CAN_ELIMINATE CAN_REORDER],
        "Uniform buffer read in vec4 units at base + offset, starting at component; may not cross the vec4.";
    LoadSsbo "load_ssbo" Memory: (any "buffer index", 1 "byte offset") -> N [any], [Access AlignMul AlignOffset], [CAN_ELIMINATE],
        "Storage buffer read.";
    LoadSsboAddress "load_ssbo_address" Memory: (1 "buffer index", 1 "byte offset") -> N [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Address of a storage buffer location.";
    StoreSsbo "store_ssbo" Memory: (N "value", any "buffer index", 1 "byte offset") -> none, [WriteMask Access AlignMul AlignOffset], [],
        "Storage buffer write of the components in write_mask.";
    GetSsboSize "get_ssbo_size" Memory: (any "buffer index") -> 1 [32], [Access], [CAN_ELIMINATE CAN_REORDER],
        "Byte size of a storage buffer.";
    GetUboSize "get_ubo_size" Memory: (any "buffer index") -> 1 [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Byte size of a uniform buffer.";
    LoadShared "load_shared" Memory: (1 "byte offset") -> N [any], [Base AlignMul AlignOffset], [CAN_ELIMINATE],
        "Workgroup memory read at base + offset.";
    StoreShared "store_shared" Memory: (N "value", 1 "byte offset") -> none, [Base WriteMask AlignMul AlignOffset], [],
        "Workgroup memory write at base + offset.";
    LoadTaskPayload "load_task_payload" Memory: (1 "byte offset") -> N [any], [Base AlignMul AlignOffset], [CAN_ELIMINATE],
        "Task payload read.";
    StoreTaskPayload "store_task_payload" Memory: (N "value", 1 "byte offset") -> none, [Base WriteMask AlignMul AlignOffset], [],
        "Task payload write.";
    LoadGlobal "load_global" Memory: (1 "address") -> N [any], [Access AlignMul AlignOffset], [CAN_ELIMINATE],
        "Global memory read.";
    LoadGlobal2x32 "load_global_2x32" Memory: (2 "address as two 32-bit words") -> N [any], [Access AlignMul AlignOffset], [CAN_ELIMINATE],
        "Global memory read.";
    LoadGlobalConstant "load_global_constant" Memory: (1 "address") -> N [any], [Access AlignMul AlignOffset], [CAN_ELIMINATE CAN_REORDER],
        "Global read of memory that does not change during the shader.";
    LoadGlobalConstantOffset "load_global_constant_offset" Memory: (1 "base address", 1 "offset") -> N [any], [Access AlignMul AlignOffset], [CAN_ELIMINATE CAN_REORDER],
        "As load_global_constant at base + zero-extended offset.";
    LoadGlobalConstantBounded "load_global_constant_bounded" Memory: (1 "base address", 1 "offset", 1 "bound") -> N [any], [Access AlignMul AlignOffset], [CAN_ELIMINATE CAN_REORDER],
        "As above, returning 0 when offset is out of bound.";
    StoreGlobal "store_global" Memory: (N "value", 1 "address") -> none, [WriteMask Access AlignMul AlignOffset], [],
        "Global memory write.";
    StoreGlobal2x32 "store_global_2x32" Memory: (N "value", 2 "address as two words") -> none, [WriteMask Access AlignMul AlignOffset], [],
        "Global memory write.";
    LoadPushConstant "load_push_constant" Memory: (1 "byte offset") -> N [any], [Base Range AlignMul AlignOffset], [CAN_ELIMINATE CAN_REORDER],
        "Push constant read at base + offset.";
    LoadConstant "load_constant" Memory: (1 "byte offset") -> N [any], [Base Range Access AlignMul AlignOffset], [CAN_ELIMINATE CAN_REORDER],
        "Read of the constant data block that belongs to the shader, at base + offset; out of range gives 0.";
    LoadKernelInput "load_kernel_input" Memory: (1 "byte offset") -> N [any], [Base Range AlignMul AlignOffset], [CAN_ELIMINATE CAN_REORDER],
        "Kernel argument read at base + offset.";
    LoadScratch "load_scratch" Memory: (1 "byte offset") -> N [any], [AlignMul AlignOffset], [CAN_ELIMINATE],
        "Per-invocation scratch read.";
    StoreScratch "store_scratch" Memory: (N "value", 1 "byte offset") -> none, [AlignMul AlignOffset WriteMask], [],
        "Per-invocation scratch write.";
    LoadStack "load_stack" Memory: () -> N [any], [Base AlignMul AlignOffset CallIdx ValueId], [CAN_ELIMINATE],
        "Call-stack read.";
    StoreStack "store_stack" Memory: (N "value") -> none, [Base AlignMul AlignOffset WriteMask CallIdx ValueId], [],
        "Call-stack write.";
    LoadPreamble "load_preamble" Memory: () -> N [any], [Base], [CAN_ELIMINATE CAN_REORDER],
        "Value stored by the preamble function at base.";
    StorePreamble "store_preamble" Memory: (N "value") -> none, [Base], [],
        "Stores a value for the main function at base.";
    LoadMeshViewIndices "load_mesh_view_indices" Memory: (1 "offset") -> N [any], [Base Range], [CAN_ELIMINATE CAN_REORDER],
        "Indices of the active views.";

    // io
    LoadInput "load_input" Io: (1 "offset") -> N [any], [Base Range Component DestType IoSemantics], [CAN_ELIMINATE CAN_REORDER],
        "Shader input of slot io_semantics.location; base = driver location; component = first component; offset in slots. Vertex attributes, flat fragment inputs.";
    LoadInputVertex "load_input_vertex" Io: (1 "vertex index", 1 "offset") -> N [any], [Base Component DestType IoSemantics], [CAN_ELIMINATE CAN_REORDER],
        "Uninterpolated fragment input of one vertex.";
    LoadPerVertexInput "load_per_vertex_input" Io: (1 "vertex index", 1 "offset") -> N [any], [Base Range Component DestType IoSemantics], [CAN_ELIMINATE CAN_REORDER],
        "Arrayed input (tessellation, geometry).";
    LoadInterpolatedInput "load_interpolated_input" Io: (2 "barycentric vec2", 1 "offset") -> N [any], [Base Component DestType IoSemantics], [CAN_ELIMINATE CAN_REORDER],
        "Fragment input interpolated with the given weights.";
    LoadPerPrimitiveInput "load_per_primitive_input" Io: (1 "offset") -> N [any], [Base Component DestType IoSemantics], [CAN_ELIMINATE CAN_REORDER],
        "Per-primitive fragment input.";
    LoadOutput "load_output" Io: (1 "offset") -> N [any], [Base Range Component DestType IoSemantics], [CAN_ELIMINATE],
        "Reads back an output (framebuffer fetch, tessellation control).";
    LoadPerVertexOutput "load_per_vertex_output" Io: (1 "vertex index", 1 "offset") -> N [any], [Base Range Component DestType IoSemantics], [CAN_ELIMINATE],
        "Reads back an arrayed output.";
    LoadPerViewOutput "load_per_view_output" Io: (1 "view index", 1 "offset") -> N [any], [Base Range Component DestType IoSemantics], [CAN_ELIMINATE],
        "Reads back a per-view output.";
    LoadPerPrimitiveOutput "load_per_primitive_output" Io: (1 "primitive index", 1 "offset") -> N [any], [Base Component DestType IoSemantics], [CAN_ELIMINATE],
        "Reads back a per-primitive output.";
    StoreOutput "store_output" Io: (N "value", 1 "offset") -> none, [Base Range WriteMask Component SrcType IoSemantics IoXfb IoXfb2], [],
        "Writes components write_mask shifted by component of slot io_semantics.location (+ offset slots); src_type = base type and size of value.";
    StorePerVertexOutput "store_per_vertex_output" Io: (N "value", 1 "vertex index", 1 "offset") -> none, [Base Range WriteMask Component SrcType IoSemantics], [],
        "Writes an arrayed output.";
    StorePerViewOutput "store_per_view_output" Io: (N "value", 1 "view index", 1 "offset") -> none, [Base Range WriteMask Component SrcType IoSemantics], [],
        "Writes a per-view output.";
    StorePerPrimitiveOutput "store_per_primitive_output" Io: (N "value", 1 "primitive index", 1 "offset") -> none, [Base Range WriteMask Component SrcType IoSemantics], [],
        "Writes a per-primitive output.";

    // interp
    InterpDerefAtCentroid "interp_deref_at_centroid" Interp: (1 "deref of an input") -> N [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Input interpolated at the centroid.";
    InterpDerefAtSample "interp_deref_at_sample" Interp: (1 "deref", 1 "sample index") -> N [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Input interpolated at the given sample.";
    InterpDerefAtOffset "interp_deref_at_offset" Interp: (1 "deref", 2 "vec2 offset") -> N [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Input interpolated at pixel centre + offset.";
    InterpDerefAtVertex "interp_deref_at_vertex" Interp: (1 "deref", 1 "vertex index") -> N [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Uninterpolated value at one vertex.";
    LoadBarycentricPixel "load_barycentric_pixel" Interp: () -> 2 [any], [InterpMode], [CAN_ELIMINATE CAN_REORDER],
        "Barycentric weights for interpolation mode interp_mode (SMOOTH, NOPERSPECTIVE or NONE) at the pixel centre. Feeds load_interpolated_input.";
    LoadBarycentricCentroid "load_barycentric_centroid" Interp: () -> 2 [any], [InterpMode], [CAN_ELIMINATE CAN_REORDER],
        "Barycentric weights for interpolation mode interp_mode (SMOOTH, NOPERSPECTIVE or NONE) at the centroid.";
    LoadBarycentricSample "load_barycentric_sample" Interp: () -> 2 [any], [InterpMode], [CAN_ELIMINATE CAN_REORDER],
        "Barycentric weights for interpolation mode interp_mode (SMOOTH, NOPERSPECTIVE or NONE) at the current sample.";
    LoadBarycentricAtSample "load_barycentric_at_sample" Interp: (1 "sample index") -> 2 [any], [InterpMode], [CAN_ELIMINATE CAN_REORDER],
        "Barycentric weights for interpolation mode interp_mode (SMOOTH, NOPERSPECTIVE or NONE) at a given sample.";
    LoadBarycentricAtOffset "load_barycentric_at_offset" Interp: (2 "vec2 offset") -> 2 [any], [InterpMode], [CAN_ELIMINATE CAN_REORDER],
        "Barycentric weights for interpolation mode interp_mode (SMOOTH, NOPERSPECTIVE or NONE) at pixel centre + offset.";
    LoadBarycentricModel "load_barycentric_model" Interp: () -> 3 [any], [InterpMode], [CAN_ELIMINATE CAN_REORDER],
        "Pull-model coefficients (1/W, 1/I, 1/J) at the pixel centre.";
    LoadBarycentricCoordPixel "load_barycentric_coord_pixel" Interp: () -> 3 [any], [InterpMode], [CAN_ELIMINATE CAN_REORDER],
        "Three-component barycentric coordinates as a system value (pixel).";
    LoadBarycentricCoordCentroid "load_barycentric_coord_centroid" Interp: () -> 3 [any], [InterpMode], [CAN_ELIMINATE CAN_REORDER],
        "Three-component barycentric coordinates as a system value (centroid).";
    LoadBarycentricCoordSample "load_barycentric_coord_sample" Interp: () -> 3 [any], [InterpMode], [CAN_ELIMINATE CAN_REORDER],
        "Three-component barycentric coordinates as a system value (sample).";
    LoadBarycentricCoordAtSample "load_barycentric_coord_at_sample" Interp: (1 "sample index") -> 3 [any], [InterpMode], [CAN_ELIMINATE CAN_REORDER],
        "Three-component barycentric coordinates as a system value (at_sample).";
    LoadBarycentricCoordAtOffset "load_barycentric_coord_at_offset" Interp: (2 "vec2 offset") -> 3 [any], [InterpMode], [CAN_ELIMINATE CAN_REORDER],
        "Three-component barycentric coordinates as a system value (at_offset).";
    LoadSamplePosFromId "load_sample_pos_from_id" Interp: (1 "sample index") -> 2 [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Position of the given sample inside the pixel.";
    LoadFsInputInterpDeltas "load_fs_input_interp_deltas" Interp: (1 "offset") -> 3 [any], [Base Component IoSemantics], [CAN_ELIMINATE CAN_REORDER],
        "Plane deltas of an input slot: result = d.x + d.y*bary.y + d.z*bary.x.";

    // derivative
    Ddx "ddx" Derivative: (N "value") -> N [16 32], [], [CAN_ELIMINATE],
        "Screen-space horizontal derivative, implementation chooses fine or coarse. Not reorderable: may not move across discard or into divergent control flow.";
    DdxFine "ddx_fine" Derivative: (N "value") -> N [16 32], [], [CAN_ELIMINATE],
        "Fine horizontal derivative (per pixel pair).";
    DdxCoarse "ddx_coarse" Derivative: (N "value") -> N [16 32], [], [CAN_ELIMINATE],
        "Coarse horizontal derivative (one per 2x2 quad).";
    Ddy "ddy" Derivative: (N "value") -> N [16 32], [], [CAN_ELIMINATE],
        "Screen-space vertical derivative, implementation chooses fine or coarse. Not reorderable: may not move across discard or into divergent control flow.";
    DdyFine "ddy_fine" Derivative: (N "value") -> N [16 32], [], [CAN_ELIMINATE],
        "Fine vertical derivative (per pixel pair).";
    DdyCoarse "ddy_coarse" Derivative: (N "value") -> N [16 32], [], [CAN_ELIMINATE],
        "Coarse vertical derivative (one per 2x2 quad).";

    // fragment
    Terminate "terminate" Fragment: () -> none, [], [],
        "Kills the fragment invocation at once (TGSI KILL).";
    TerminateIf "terminate_if" Fragment: (1 "bool") -> none, [], [],
        "Kills the invocation when the scalar boolean is true (TGSI KILL_IF after comparison).";
    Demote "demote" Fragment: () -> none, [], [],
        "Turns the invocation into a helper: no more side effects, derivatives stay valid.";
    DemoteIf "demote_if" Fragment: (1 "bool") -> none, [], [],
        "Conditional demote.";
    IsHelperInvocation "is_helper_invocation" Fragment: () -> 1 [any], [], [CAN_ELIMINATE],
        "True if the invocation is a helper now (after demotions).";
    BeginInvocationInterlock "begin_invocation_interlock" Fragment: () -> none, [], [],
        "Start of a fragment interlock section.";
    EndInvocationInterlock "end_invocation_interlock" Fragment: () -> none, [], [],
        "End of a fragment interlock section.";

    // atomic
    DerefAtomic "deref_atomic" Atomic: (any "deref", 1 "data") -> 1 [any], [Access AtomicOp], [],
        "Atomic read-modify-write described by atomic_op; returns the old value.";
    DerefAtomicSwap "deref_atomic_swap" Atomic: (any "deref", 1 "compare", 1 "new") -> 1 [any], [Access AtomicOp], [],
        "Compare and swap (atomic_op cmpxchg or fcmpxchg); returns the old value.";
    SsboAtomic "ssbo_atomic" Atomic: (any "buffer index", 1 "byte offset", 1 "data") -> 1 [any], [Access AtomicOp], [],
        "Storage buffer atomic atomic_op; returns old value.";
    SsboAtomicSwap "ssbo_atomic_swap" Atomic: (any "buffer index", 1 "byte offset", 1 "compare", 1 "new") -> 1 [any], [Access AtomicOp], [],
        "Storage buffer compare and swap; returns old value.";
    SharedAtomic "shared_atomic" Atomic: (1 "byte offset", 1 "data") -> 1 [any], [Base AtomicOp], [],
        "Workgroup memory atomic at base + offset; returns old value.";
    SharedAtomicSwap "shared_atomic_swap" Atomic: (1 "byte offset", 1 "compare", 1 "new") -> 1 [any], [Base AtomicOp], [],
        "Workgroup memory compare and swap.";
    TaskPayloadAtomic "task_payload_atomic" Atomic: (1 "byte offset", 1 "data") -> 1 [any], [Base AtomicOp], [],
        "Task payload atomic.";
    TaskPayloadAtomicSwap "task_payload_atomic_swap" Atomic: (1 "byte offset", 1 "compare", 1 "new") -> 1 [any], [Base AtomicOp], [],
        "Task payload compare and swap.";
    GlobalAtomic "global_atomic" Atomic: (1 "address", 1 "data") -> 1 [any], [AtomicOp], [],
        "Global atomic.";
    GlobalAtomicSwap "global_atomic_swap" Atomic: (1 "address", 1 "compare", 1 "new") -> 1 [any], [AtomicOp], [],
        "Global compare and swap.";
    GlobalAtomic2x32 "global_atomic_2x32" Atomic: (2 "address words", 1 "data") -> 1 [any], [AtomicOp], [],
        "Global atomic.";
    GlobalAtomicSwap2x32 "global_atomic_swap_2x32" Atomic: (2 "address words", 1 "compare", 1 "new") -> 1 [any], [AtomicOp], [],
        "Global compare and swap.";

    // atomic-counter
    AtomicCounterInc "atomic_counter_inc" AtomicCounter: (1 "byte offset") -> 1 [any], [Base RangeBase], [],
        "Atomic counter +1; returns old value. base = buffer binding, range_base = constant byte offset of the counter variable.";
    AtomicCounterIncDeref "atomic_counter_inc_deref" AtomicCounter: (any "deref") -> 1 [any], [], [],
        "Atomic counter +1; returns old value (variable form).";
    AtomicCounterPreDec "atomic_counter_pre_dec" AtomicCounter: (1 "byte offset") -> 1 [any], [Base RangeBase], [],
        "Atomic counter -1; returns NEW value. base = buffer binding, range_base = constant byte offset of the counter variable.";
    AtomicCounterPreDecDeref "atomic_counter_pre_dec_deref" AtomicCounter: (any "deref") -> 1 [any], [], [],
        "Atomic counter -1; returns NEW value (variable form).";
    AtomicCounterPostDec "atomic_counter_post_dec" AtomicCounter: (1 "byte offset") -> 1 [any], [Base RangeBase], [],
        "Atomic counter -1; returns old value. base = buffer binding, range_base = constant byte offset of the counter variable.";
    AtomicCounterPostDecDeref "atomic_counter_post_dec_deref" AtomicCounter: (any "deref") -> 1 [any], [], [],
        "Atomic counter -1; returns old value (variable form).";
    AtomicCounterRead "atomic_counter_read" AtomicCounter: (1 "byte offset") -> 1 [any], [Base RangeBase], [CAN_ELIMINATE],
        "Atomic counter returns value. base = buffer binding, range_base = constant byte offset of the counter variable.";
    AtomicCounterReadDeref "atomic_counter_read_deref" AtomicCounter: (any "deref") -> 1 [any], [], [CAN_ELIMINATE],
        "Atomic counter returns value (variable form).";
    AtomicCounterAdd "atomic_counter_add" AtomicCounter: (1 "byte offset", 1 "data") -> 1 [any], [Base RangeBase], [],
        "Atomic counter adds data; returns old value. base = buffer binding, range_base = constant byte offset of the counter variable.";
    AtomicCounterAddDeref "atomic_counter_add_deref" AtomicCounter: (any "deref", 1 "data") -> 1 [any], [], [],
        "Atomic counter adds data; returns old value (variable form).";
    AtomicCounterMin "atomic_counter_min" AtomicCounter: (1 "byte offset", 1 "data") -> 1 [any], [Base RangeBase], [],
        "Atomic counter unsigned minimum with data; returns old. base = buffer binding, range_base = constant byte offset of the counter variable.";
    AtomicCounterMinDeref "atomic_counter_min_deref" AtomicCounter: (any "deref", 1 "data") -> 1 [any], [], [],
        "Atomic counter unsigned minimum with data; returns old (variable form).";
    AtomicCounterMax "atomic_counter_max" AtomicCounter: (1 "byte offset", 1 "data") -> 1 [any], [Base RangeBase], [],
        "Atomic counter unsigned maximum with data; returns old. base = buffer binding, range_base = constant byte offset of the counter variable.";
    AtomicCounterMaxDeref "atomic_counter_max_deref" AtomicCounter: (any "deref", 1 "data") -> 1 [any], [], [],
        "Atomic counter unsigned maximum with data; returns old (variable form).";
    AtomicCounterAnd "atomic_counter_and" AtomicCounter: (1 "byte offset", 1 "data") -> 1 [any], [Base RangeBase], [],
        "Atomic counter bitwise and; returns old. base = buffer binding, range_base = constant byte offset of the counter variable.";
    AtomicCounterAndDeref "atomic_counter_and_deref" AtomicCounter: (any "deref", 1 "data") -> 1 [any], [], [],
        "Atomic counter bitwise and; returns old (variable form).";
    AtomicCounterOr "atomic_counter_or" AtomicCounter: (1 "byte offset", 1 "data") -> 1 [any], [Base RangeBase], [],
        "Atomic counter bitwise or; returns old. base = buffer binding, range_base = constant byte offset of the counter variable.";
    AtomicCounterOrDeref "atomic_counter_or_deref" AtomicCounter: (any "deref", 1 "data") -> 1 [any], [], [],
        "Atomic counter bitwise or; returns old (variable form).";
    AtomicCounterXor "atomic_counter_xor" AtomicCounter: (1 "byte offset", 1 "data") -> 1 [any], [Base RangeBase], [],
        "Atomic counter bitwise xor; returns old. base = buffer binding, range_base = constant byte offset of the counter variable.";
    AtomicCounterXorDeref "atomic_counter_xor_deref" AtomicCounter: (any "deref", 1 "data") -> 1 [any], [], [],
        "Atomic counter bitwise xor; returns old (variable form).";
    AtomicCounterExchange "atomic_counter_exchange" AtomicCounter: (1 "byte offset", 1 "data") -> 1 [any], [Base RangeBase], [],
        "Atomic counter exchange; returns old. base = buffer binding, range_base = constant byte offset of the counter variable.";
    AtomicCounterExchangeDeref "atomic_counter_exchange_deref" AtomicCounter: (any "deref", 1 "data") -> 1 [any], [], [],
        "Atomic counter exchange; returns old (variable form).";
    AtomicCounterCompSwap "atomic_counter_comp_swap" AtomicCounter: (1 "byte offset", 1 "compare", 1 "new") -> 1 [any], [Base RangeBase], [],
        "Atomic counter compare and swap; returns old. base = buffer binding, range_base = constant byte offset of the counter variable.";
    AtomicCounterCompSwapDeref "atomic_counter_comp_swap_deref" AtomicCounter: (any "deref", 1 "compare", 1 "new") -> 1 [any], [], [],
        "Atomic counter compare and swap; returns old (variable form).";

    // image
    ImageDerefLoad "image_deref_load" Image: (any "image deref", 4 "coord", 1 "sample index", 1 "lod") -> N [any], [ImageDim ImageArray Format Access DestType], [CAN_ELIMINATE],
        "Loads texels; dest_type is the element type. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    ImageLoad "image_load" Image: (1 "image index (range_base is added to it)", 4 "coord", 1 "sample index", 1 "lod") -> N [any], [ImageDim ImageArray Format Access RangeBase DestType], [CAN_ELIMINATE],
        "Loads texels; dest_type is the element type. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    BindlessImageLoad "bindless_image_load" Image: (any "bindless handle", 4 "coord", 1 "sample index", 1 "lod") -> N [any], [ImageDim ImageArray Format Access DestType], [CAN_ELIMINATE],
        "Loads texels; dest_type is the element type. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    ImageDerefSparseLoad "image_deref_sparse_load" Image: (any "image deref", 4 "coord", 1 "sample index", 1 "lod") -> N [any], [ImageDim ImageArray Format Access DestType], [CAN_ELIMINATE],
        "Loads texels plus a residency code in the last component. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    ImageSparseLoad "image_sparse_load" Image: (1 "image index (range_base is added to it)", 4 "coord", 1 "sample index", 1 "lod") -> N [any], [ImageDim ImageArray Format Access RangeBase DestType], [CAN_ELIMINATE],
        "Loads texels plus a residency code in the last component. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    BindlessImageSparseLoad "bindless_image_sparse_load" Image: (any "bindless handle", 4 "coord", 1 "sample index", 1 "lod") -> N [any], [ImageDim ImageArray Format Access DestType], [CAN_ELIMINATE],
        "Loads texels plus a residency code in the last component. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    ImageDerefStore "image_deref_store" Image: (any "image deref", 4 "coord", 1 "sample index", N "value", 1 "lod") -> none, [ImageDim ImageArray Format Access SrcType], [],
        "Stores a texel. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    ImageStore "image_store" Image: (1 "image index (range_base is added to it)", 4 "coord", 1 "sample index", N "value", 1 "lod") -> none, [ImageDim ImageArray Format Access RangeBase SrcType], [],
        "Stores a texel. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    BindlessImageStore "bindless_image_store" Image: (any "bindless handle", 4 "coord", 1 "sample index", N "value", 1 "lod") -> none, [ImageDim ImageArray Format Access SrcType], [],
        "Stores a texel. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    ImageDerefAtomic "image_deref_atomic" Image: (any "image deref", 4 "coord", 1 "sample index", 1 "data") -> 1 [any], [ImageDim ImageArray Format Access AtomicOp], [],
        "Atomic atomic_op on a texel; returns old value. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    ImageAtomic "image_atomic" Image: (1 "image index (range_base is added to it)", 4 "coord", 1 "sample index", 1 "data") -> 1 [any], [ImageDim ImageArray Format Access RangeBase AtomicOp], [],
        "Atomic atomic_op on a texel; returns old value. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    BindlessImageAtomic "bindless_image_atomic" Image: (any "bindless handle", 4 "coord", 1 "sample index", 1 "data") -> 1 [any], [ImageDim ImageArray Format Access AtomicOp], [],
        "Atomic atomic_op on a texel; returns old value. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    ImageDerefAtomicSwap "image_deref_atomic_swap" Image: (any "image deref", 4 "coord", 1 "sample index", 1 "compare", 1 "new") -> 1 [any], [ImageDim ImageArray Format Access AtomicOp], [],
        "Compare and swap on a texel; returns old value. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    ImageAtomicSwap "image_atomic_swap" Image: (1 "image index (range_base is added to it)", 4 "coord", 1 "sample index", 1 "compare", 1 "new") -> 1 [any], [ImageDim ImageArray Format Access RangeBase AtomicOp], [],
        "Compare and swap on a texel; returns old value. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    BindlessImageAtomicSwap "bindless_image_atomic_swap" Image: (any "bindless handle", 4 "coord", 1 "sample index", 1 "compare", 1 "new") -> 1 [any], [ImageDim ImageArray Format Access AtomicOp], [],
        "Compare and swap on a texel; returns old value. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    ImageDerefSize "image_deref_size" Image: (any "image deref", 1 "lod") -> N [any], [ImageDim ImageArray Format Access], [CAN_ELIMINATE CAN_REORDER],
        "Image size (1..3 components; arrays add the layer count).";
    ImageSize "image_size" Image: (1 "image index (range_base is added to it)", 1 "lod") -> N [any], [ImageDim ImageArray Format Access RangeBase], [CAN_ELIMINATE CAN_REORDER],
        "Image size (1..3 components; arrays add the layer count).";
    BindlessImageSize "bindless_image_size" Image: (any "bindless handle", 1 "lod") -> N [any], [ImageDim ImageArray Format Access], [CAN_ELIMINATE CAN_REORDER],
        "Image size (1..3 components; arrays add the layer count).";
    ImageDerefLevels "image_deref_levels" Image: (any "image deref") -> 1 [any], [ImageDim ImageArray Format Access], [CAN_ELIMINATE CAN_REORDER],
        "Number of mip levels.";
    ImageLevels "image_levels" Image: (1 "image index (range_base is added to it)") -> 1 [any], [ImageDim ImageArray Format Access RangeBase], [CAN_ELIMINATE CAN_REORDER],
        "Number of mip levels.";
    BindlessImageLevels "bindless_image_levels" Image: (any "bindless handle") -> 1 [any], [ImageDim ImageArray Format Access], [CAN_ELIMINATE CAN_REORDER],
        "Number of mip levels.";
    ImageDerefSamples "image_deref_samples" Image: (any "image deref") -> 1 [any], [ImageDim ImageArray Format Access], [CAN_ELIMINATE CAN_REORDER],
        "Number of samples.";
    ImageSamples "image_samples" Image: (1 "image index (range_base is added to it)") -> 1 [any], [ImageDim ImageArray Format Access RangeBase], [CAN_ELIMINATE CAN_REORDER],
        "Number of samples.";
    BindlessImageSamples "bindless_image_samples" Image: (any "bindless handle") -> 1 [any], [ImageDim ImageArray Format Access], [CAN_ELIMINATE CAN_REORDER],
        "Number of samples.";
    ImageDerefTexelAddress "image_deref_texel_address" Image: (any "image deref", 4 "coord", 1 "sample index") -> 1 [any], [ImageDim ImageArray Format Access], [CAN_ELIMINATE CAN_REORDER],
        "Address of a texel. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    ImageTexelAddress "image_texel_address" Image: (1 "image index (range_base is added to it)", 4 "coord", 1 "sample index") -> 1 [any], [ImageDim ImageArray Format Access RangeBase], [CAN_ELIMINATE CAN_REORDER],
        "Address of a texel. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    BindlessImageTexelAddress "bindless_image_texel_address" Image: (any "bindless handle", 4 "coord", 1 "sample index") -> 1 [any], [ImageDim ImageArray Format Access], [CAN_ELIMINATE CAN_REORDER],
        "Address of a texel. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    ImageDerefSamplesIdentical "image_deref_samples_identical" Image: (any "image deref", 4 "coord") -> 1 [any], [ImageDim ImageArray Format Access], [CAN_ELIMINATE],
        "True when all samples of the pixel are known equal. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    ImageSamplesIdentical "image_samples_identical" Image: (1 "image index (range_base is added to it)", 4 "coord") -> 1 [any], [ImageDim ImageArray Format Access RangeBase], [CAN_ELIMINATE],
        "True when all samples of the pixel are known equal. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    BindlessImageSamplesIdentical "bindless_image_samples_identical" Image: (any "bindless handle", 4 "coord") -> 1 [any], [ImageDim ImageArray Format Access], [CAN_ELIMINATE],
        "True when all samples of the pixel are known equal. Coordinates are always a vec4, unused components undefined; sample index undefined unless multisampled.";
    ImageDerefFormat "image_deref_format" Image: (any "image deref") -> 1 [any], [ImageDim ImageArray Format Access], [CAN_ELIMINATE CAN_REORDER],
        "OpenCL channel data type.";
    ImageFormat "image_format" Image: (1 "image index (range_base is added to it)") -> 1 [any], [ImageDim ImageArray Format Access RangeBase], [CAN_ELIMINATE CAN_REORDER],
        "OpenCL channel data type.";
    BindlessImageFormat "bindless_image_format" Image: (any "bindless handle") -> 1 [any], [ImageDim ImageArray Format Access], [CAN_ELIMINATE CAN_REORDER],
        "OpenCL channel data type.";
    ImageDerefOrder "image_deref_order" Image: (any "image deref") -> 1 [any], [ImageDim ImageArray Format Access], [CAN_ELIMINATE CAN_REORDER],
        "OpenCL channel order.";
    ImageOrder "image_order" Image: (1 "image index (range_base is added to it)") -> 1 [any], [ImageDim ImageArray Format Access RangeBase], [CAN_ELIMINATE CAN_REORDER],
        "OpenCL channel order.";
    BindlessImageOrder "bindless_image_order" Image: (any "bindless handle") -> 1 [any], [ImageDim ImageArray Format Access], [CAN_ELIMINATE CAN_REORDER],
        "OpenCL channel order.";
    IsSparseTexelsResident "is_sparse_texels_resident" Image: (1 "residency code") -> 1 [1 32], [], [CAN_ELIMINATE CAN_REORDER],
        "True if the code says resident.";
    SparseResidencyCodeAnd "sparse_residency_code_and" Image: (1 "code", 1 "code") -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER],
        "Combined code, resident only if both are.";

    // resource
    VulkanResourceIndex "vulkan_resource_index" Resource: (1 "array index") -> N [any], [DescSet Binding DescType], [CAN_ELIMINATE CAN_REORDER],
        "Handle for (desc_set, binding, index).";
    VulkanResourceReindex "vulkan_resource_reindex" Resource: (N "handle", 1 "delta") -> N [any], [DescType], [CAN_ELIMINATE CAN_REORDER],
        "Handle with the array index advanced by delta.";
    LoadVulkanDescriptor "load_vulkan_descriptor" Resource: (any "handle") -> N [any], [DescType], [CAN_ELIMINATE CAN_REORDER],
        "Descriptor value for a handle.";
    LoadTextureScale "load_texture_scale" Resource: (1 "sampler index") -> 2 [any], [], [CAN_ELIMINATE CAN_REORDER],
        "1 / texture size, used to lower RECT coordinates.";

    // barrier
    Barrier "barrier" Barrier: () -> none, [ExecutionScope MemoryScope MemorySemantics MemoryModes], [],
        "execution_scope != NONE: control barrier over that scope. memory_scope != NONE: memory barrier with memory_semantics on memory_modes.";

    // subgroup
    Ballot "ballot" Subgroup: (1 "bool") -> N [any], [], [CAN_ELIMINATE],
        "Bit i of the result = value in active invocation i; inactive bits are 0. Result width is free (one 32/64-bit word or uvec4).";
    BallotRelaxed "ballot_relaxed" Subgroup: (1 "bool") -> N [any], [], [CAN_ELIMINATE],
        "As ballot but bits of inactive invocations are undefined.";
    ReadInvocation "read_invocation" Subgroup: (N "value", 1 "invocation index") -> N [src 0], [], [CAN_ELIMINATE],
        "Value of another invocation.";
    ReadFirstInvocation "read_first_invocation" Subgroup: (N "value") -> N [src 0], [], [CAN_ELIMINATE],
        "Value of the lowest active invocation.";
    AsUniform "as_uniform" Subgroup: (N "value") -> N [src 0], [], [CAN_ELIMINATE],
        "Value promised uniform; may move to a uniform register.";
    Elect "elect" Subgroup: () -> 1 [any], [], [CAN_ELIMINATE],
        "True in exactly one active invocation (the lowest).";
    FirstInvocation "first_invocation" Subgroup: () -> 1 [32], [], [CAN_ELIMINATE],
        "Index of the lowest active invocation.";
    LastInvocation "last_invocation" Subgroup: () -> 1 [32], [], [CAN_ELIMINATE],
        "Index of the highest active invocation.";
    InverseBallot "inverse_ballot" Subgroup: (N "mask") -> 1 [any], [], [CAN_ELIMINATE],
        "Bit of the mask that belongs to this invocation.";
    VoteAny "vote_any" Subgroup: (1 "bool") -> 1 [any], [], [CAN_ELIMINATE],
        "OR over active invocations.";
    VoteAll "vote_all" Subgroup: (1 "bool") -> 1 [any], [], [CAN_ELIMINATE],
        "AND over active invocations.";
    VoteFeq "vote_feq" Subgroup: (N "value") -> 1 [any], [], [CAN_ELIMINATE],
        "True if the value is equal as float in all active invocations.";
    VoteIeq "vote_ieq" Subgroup: (N "value") -> 1 [any], [], [CAN_ELIMINATE],
        "True if the value is bitwise equal in all active invocations.";
    BallotBitfieldExtract "ballot_bitfield_extract" Subgroup: (4 "uvec4 mask", 1 "index") -> 1 [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Bit of a ballot mask.";
    BallotBitCountReduce "ballot_bit_count_reduce" Subgroup: (4 "uvec4 mask") -> 1 [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Number of set bits within the subgroup size.";
    BallotBitCountInclusive "ballot_bit_count_inclusive" Subgroup: (4 "uvec4 mask") -> 1 [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Number of set bits at positions <= this invocation.";
    BallotBitCountExclusive "ballot_bit_count_exclusive" Subgroup: (4 "uvec4 mask") -> 1 [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Number of set bits at positions < this invocation.";
    BallotFindLsb "ballot_find_lsb" Subgroup: (4 "uvec4 mask") -> 1 [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Index of the lowest set bit.";
    BallotFindMsb "ballot_find_msb" Subgroup: (4 "uvec4 mask") -> 1 [any], [], [CAN_ELIMINATE CAN_REORDER],
        "Index of the highest set bit.";
    Shuffle "shuffle" Subgroup: (N "value", 1 "invocation index") -> N [src 0], [], [CAN_ELIMINATE],
        "Value of the named invocation (index may diverge).";
    ShuffleXor "shuffle_xor" Subgroup: (N "value", 1 "mask") -> N [src 0], [], [CAN_ELIMINATE],
        "Value of invocation id xor mask.";
    ShuffleUp "shuffle_up" Subgroup: (N "value", 1 "delta") -> N [src 0], [], [CAN_ELIMINATE],
        "Value of invocation id - delta.";
    ShuffleDown "shuffle_down" Subgroup: (N "value", 1 "delta") -> N [src 0], [], [CAN_ELIMINATE],
        "Value of invocation id + delta.";
    Rotate "rotate" Subgroup: (N "value", 1 "delta") -> N [src 0], [ClusterSize], [CAN_ELIMINATE],
        "Value of invocation (id + delta) mod cluster_size within the cluster (0 = whole subgroup).";
    QuadBroadcast "quad_broadcast" Subgroup: (N "value", 1 "lane") -> N [src 0], [], [CAN_ELIMINATE],
        "Value of lane 0..3 of the quad.";
    QuadSwapHorizontal "quad_swap_horizontal" Subgroup: (N "value") -> N [src 0], [], [CAN_ELIMINATE],
        "Value of the horizontal neighbour in the quad.";
    QuadSwapVertical "quad_swap_vertical" Subgroup: (N "value") -> N [src 0], [], [CAN_ELIMINATE],
        "Value of the vertical neighbour in the quad.";
    QuadSwapDiagonal "quad_swap_diagonal" Subgroup: (N "value") -> N [src 0], [], [CAN_ELIMINATE],
        "Value of the diagonal neighbour in the quad.";
    QuadVoteAny "quad_vote_any" Subgroup: (1 "bool") -> 1 [any], [], [CAN_ELIMINATE],
        "OR over the quad.";
    QuadVoteAll "quad_vote_all" Subgroup: (1 "bool") -> 1 [any], [], [CAN_ELIMINATE],
        "AND over the quad.";
    Reduce "reduce" Subgroup: (N "value") -> N [src 0], [ReductionOp ClusterSize], [CAN_ELIMINATE],
        "Reduction with reduction_op over clusters of cluster_size (0 = whole subgroup).";
    InclusiveScan "inclusive_scan" Subgroup: (N "value") -> N [src 0], [ReductionOp], [CAN_ELIMINATE],
        "Prefix reduction including this invocation.";
    ExclusiveScan "exclusive_scan" Subgroup: (N "value") -> N [src 0], [ReductionOp], [CAN_ELIMINATE],
        "Prefix reduction excluding this invocation (identity for the first).";

    // geometry
    EmitVertex "emit_vertex" Geometry: () -> none, [StreamId], [],
        "Emits the current outputs as a vertex on stream_id; all outputs become undefined.";
    EndPrimitive "end_primitive" Geometry: () -> none, [StreamId], [],
        "Ends the current strip on stream_id.";
    EmitVertexWithCounter "emit_vertex_with_counter" Geometry: (1 "total vertices", 1 "vertices in primitive", 1 "total primitives", 1 "decomposed primitives") -> none, [StreamId], [],
        "As emit_vertex with explicit counters.";
    EndPrimitiveWithCounter "end_primitive_with_counter" Geometry: (1 "total vertices", 1 "vertices in primitive", 1 "total primitives", 1 "decomposed primitives") -> none, [StreamId], [],
        "As end_primitive with explicit counters.";
    SetVertexAndPrimitiveCount "set_vertex_and_primitive_count" Geometry: (1 "vertices", 1 "primitives", 1 "decomposed primitives") -> none, [StreamId], [],
        "Final counts for stream_id.";

    // sysval
    LoadFragShadingRate "load_frag_shading_rate" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER],
        "Shading rate bit field (1: 2 px vertical, 2: 4 px vertical, 4: 2 px horizontal, 8: 4 px horizontal).";
    LoadFragCoord "load_frag_coord" Sysval: () -> 4 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Window position of the fragment (x, y, z, 1/w).";
    LoadPixelCoord "load_pixel_coord" Sysval: () -> 2 [16], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Integer pixel position, 16-bit.";
    LoadFragCoordZw "load_frag_coord_zw" Sysval: () -> 1 [32], [Component], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Component z (component=2) or w (component=3) of frag_coord.";
    LoadPointCoord "load_point_coord" Sysval: () -> 2 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Coordinate inside a point sprite.";
    LoadLineCoord "load_line_coord" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Coordinate along a line.";
    LoadFrontFace "load_front_face" Sysval: () -> 1 [1 32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "True for a front-facing primitive.";
    LoadFrontFaceFsign "load_front_face_fsign" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "+1.0 front, -1.0 back.";
    LoadVertexId "load_vertex_id" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Vertex index including the base vertex.";
    LoadVertexIdZeroBase "load_vertex_id_zero_base" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Vertex index without the base vertex.";
    LoadFirstVertex "load_first_vertex" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "First vertex of the draw (base vertex for indexed draws).";
    LoadIsIndexedDraw "load_is_indexed_draw" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "~0 for an indexed draw, else 0.";
    LoadBaseVertex "load_base_vertex" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Base vertex of an indexed draw, 0 otherwise.";
    LoadInstanceId "load_instance_id" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Instance index without base instance.";
    LoadBaseInstance "load_base_instance" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Base instance.";
    LoadDrawId "load_draw_id" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Index of the draw in a multi-draw.";
    LoadSampleId "load_sample_id" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Index of the current sample; implies per-sample shading.";
    LoadSampleIdNoPerSample "load_sample_id_no_per_sample" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "As sample_id without forcing per-sample shading.";
    LoadSamplePos "load_sample_pos" Sysval: () -> 2 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Position of the current sample in [0,1); implies per-sample shading.";
    LoadSamplePosOrCenter "load_sample_pos_or_center" Sysval: () -> 2 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "As sample_pos; pixel centre when not per-sample.";
    LoadSampleMaskIn "load_sample_mask_in" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Coverage mask of the fragment.";
    LoadPrimitiveId "load_primitive_id" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Primitive index.";
    LoadInvocationId "load_invocation_id" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Invocation index (tessellation control, geometry).";
    LoadTessCoord "load_tess_coord" Sysval: () -> 3 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Tessellation coordinate.";
    LoadTessCoordXy "load_tess_coord_xy" Sysval: () -> 2 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "First two components of tess_coord.";
    LoadTessLevelOuter "load_tess_level_outer" Sysval: () -> 4 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Outer tessellation levels.";
    LoadTessLevelInner "load_tess_level_inner" Sysval: () -> 2 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Inner tessellation levels.";
    LoadTessLevelOuterDefault "load_tess_level_outer_default" Sysval: () -> 4 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Outer levels set by the API for a missing control shader.";
    LoadTessLevelInnerDefault "load_tess_level_inner_default" Sysval: () -> 2 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Inner levels set by the API for a missing control shader.";
    LoadPatchVerticesIn "load_patch_vertices_in" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Number of input patch vertices.";
    LoadLocalInvocationId "load_local_invocation_id" Sysval: () -> 3 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Position inside the workgroup.";
    LoadLocalInvocationIndex "load_local_invocation_index" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Linear index inside the workgroup: z*sx*sy + y*sx + x.";
    LoadWorkgroupId "load_workgroup_id" Sysval: () -> 3 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Index of the workgroup, without the API base.";
    LoadWorkgroupIndex "load_workgroup_index" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Linear workgroup index.";
    LoadBaseWorkgroupId "load_base_workgroup_id" Sysval: () -> 3 [32 64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "API base added to workgroup_id.";
    LoadUserClipPlane "load_user_clip_plane" Sysval: () -> 4 [32], [UcpId], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "User clip plane number ucp_id.";
    LoadNumWorkgroups "load_num_workgroups" Sysval: () -> 3 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Number of workgroups.";
    LoadNumVertices "load_num_vertices" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Number of vertices of the draw.";
    LoadHelperInvocation "load_helper_invocation" Sysval: () -> 1 [1 32], [], [CAN_ELIMINATE IS_SYSVAL],
        "True for a helper invocation at the start of the shader. Not reorderable.";
    LoadLayerId "load_layer_id" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Layer.";
    LoadViewIndex "load_view_index" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "View.";
    LoadSubgroupSize "load_subgroup_size" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Subgroup size.";
    LoadSubgroupInvocation "load_subgroup_invocation" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Index inside the subgroup.";
    LoadSubgroupEqMask "load_subgroup_eq_mask" Sysval: () -> N [32 64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Mask with only the bit of this invocation.";
    LoadSubgroupGeMask "load_subgroup_ge_mask" Sysval: () -> N [32 64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Mask of bits >= this invocation.";
    LoadSubgroupGtMask "load_subgroup_gt_mask" Sysval: () -> N [32 64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Mask of bits > this invocation.";
    LoadSubgroupLeMask "load_subgroup_le_mask" Sysval: () -> N [32 64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Mask of bits <= this invocation.";
    LoadSubgroupLtMask "load_subgroup_lt_mask" Sysval: () -> N [32 64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Mask of bits < this invocation.";
    LoadNumSubgroups "load_num_subgroups" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Number of subgroups in the workgroup.";
    LoadSubgroupId "load_subgroup_id" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Index of the subgroup in the workgroup.";
    LoadWorkgroupSize "load_workgroup_size" Sysval: () -> 3 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Workgroup size.";
    LoadGlobalInvocationId "load_global_invocation_id" Sysval: () -> 3 [32 64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "(workgroup_id + base_workgroup_id) * workgroup_size + local_invocation_id.";
    LoadBaseGlobalInvocationId "load_base_global_invocation_id" Sysval: () -> 3 [32 64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "API base added to global_invocation_id.";
    LoadGlobalInvocationIndex "load_global_invocation_index" Sysval: () -> 1 [32 64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Linear global index.";
    LoadGlobalSize "load_global_size" Sysval: () -> 3 [32 64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Invocations per dimension of the dispatch.";
    LoadWorkDim "load_work_dim" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Number of dispatch dimensions.";
    LoadLineWidth "load_line_width" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Line width.";
    LoadAaLineWidth "load_aa_line_width" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Line width for smooth lines.";
    LoadScratchBasePtr "load_scratch_base_ptr" Sysval: () -> N [32 64], [Base], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Address of scratch memory.";
    LoadConstantBasePtr "load_constant_base_ptr" Sysval: () -> N [32 64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Address of the constant data.";
    LoadSharedBasePtr "load_shared_base_ptr" Sysval: () -> N [32 64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Address of shared memory.";
    LoadGlobalBasePtr "load_global_base_ptr" Sysval: () -> N [32 64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Address of global memory.";
    LoadXfbAddress "load_xfb_address" Sysval: () -> 1 [32 64], [Base], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Address of transform feedback buffer base.";
    LoadXfbSize "load_xfb_size" Sysval: () -> 1 [32], [Base], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Byte size of transform feedback buffer base.";
    LoadXfbIndexBuffer "load_xfb_index_buffer" Sysval: () -> 1 [32 64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Index buffer address for transform feedback programs.";
    LoadFragSize "load_frag_size" Sysval: () -> 2 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Fragment size in pixels.";
    LoadFragInvocationCount "load_frag_invocation_count" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Invocations per fragment.";
    LoadPolyLineSmoothEnabled "load_poly_line_smooth_enabled" Sysval: () -> 1 [1], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Whether smoothing is on.";
    LoadColor0 "load_color0" Sysval: () -> 4 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Front or back colour 0 chosen by facing.";
    LoadColor1 "load_color1" Sysval: () -> 4 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Front or back colour 1 chosen by facing.";
    LoadSampleMask "load_sample_mask" Sysval: () -> 1 [32], [], [CAN_ELIMINATE IS_SYSVAL],
        "Coverage mask as changed so far by the shader.";
    LoadFullyCovered "load_fully_covered" Sysval: () -> 1 [1], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Whether the primitive covers the whole fragment.";
    LoadFlatMask "load_flat_mask" Sysval: () -> 1 [64], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Bit per location of flat fragment inputs.";
    LoadProvokingLast "load_provoking_last" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Whether the provoking vertex is the last.";
    LoadBlendConstColorRFloat "load_blend_const_color_r_float" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Blend constant red.";
    LoadBlendConstColorGFloat "load_blend_const_color_g_float" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Blend constant green.";
    LoadBlendConstColorBFloat "load_blend_const_color_b_float" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Blend constant blue.";
    LoadBlendConstColorAFloat "load_blend_const_color_a_float" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Blend constant alpha.";
    LoadBlendConstColorRgba "load_blend_const_color_rgba" Sysval: () -> 4 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Blend constant.";
    LoadBlendConstColorRgba8888Unorm "load_blend_const_color_rgba8888_unorm" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Blend constant packed.";
    LoadBlendConstColorAaaa8888Unorm "load_blend_const_color_aaaa8888_unorm" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Blend constant alpha packed four times.";
    LoadViewportXScale "load_viewport_x_scale" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Viewport scale x.";
    LoadViewportYScale "load_viewport_y_scale" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Viewport scale y.";
    LoadViewportZScale "load_viewport_z_scale" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Viewport scale z.";
    LoadViewportXOffset "load_viewport_x_offset" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Viewport offset x.";
    LoadViewportYOffset "load_viewport_y_offset" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Viewport offset y.";
    LoadViewportZOffset "load_viewport_z_offset" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Viewport offset z.";
    LoadViewportScale "load_viewport_scale" Sysval: () -> 3 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Viewport scale.";
    LoadViewportOffset "load_viewport_offset" Sysval: () -> 3 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Viewport offset.";
    LoadUserDataAmd "load_user_data_amd" Sysval: () -> 8 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "User data words of a compute dispatch (the TGSI semantic CS_USER_DATA_AMD maps here).";
    LoadMeshViewCount "load_mesh_view_count" Sysval: () -> 1 [32], [], [CAN_ELIMINATE CAN_REORDER IS_SYSVAL],
        "Number of views of a mesh draw.";

    // mesh
    LaunchMeshWorkgroups "launch_mesh_workgroups" Mesh: (3 "vec3 counts") -> none, [Base Range], [],
        "Ends a task shader and starts mesh workgroups; payload at base, range bytes.";
    LaunchMeshWorkgroupsWithPayloadDeref "launch_mesh_workgroups_with_payload_deref" Mesh: (3 "vec3 counts", any "payload pointer") -> none, [], [],
        "Same with a pointer.";

    // misc
    Nop "nop" Misc: () -> none, [], [CAN_ELIMINATE],
        "Does nothing.";
    Use "use" Misc: (N "value") -> none, [], [],
        "Keeps a value alive; used by tests.";
    ConvertAluTypes "convert_alu_types" Misc: (N "value") -> N [any], [SrcType DestType RoundingMode Saturate], [CAN_ELIMINATE CAN_REORDER],
        "Typed conversion: from src_type to dest_type with rounding_mode and saturate; lowered to ALU conversions.";
    DebugBreak "debug_break" Misc: () -> none, [], [],
        "Break point marker.";
    ShaderClock "shader_clock" Misc: () -> 2 [32], [MemoryScope], [CAN_ELIMINATE],
        "Two 32-bit words (low, high) of a free running counter; memory_scope is the scope in which values compare.";
}
