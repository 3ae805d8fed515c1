//! Buffers, shared memory, counters, local variables, subgroups: checks the code of each construct, and that
//! `spirv-val` accepts it for every version.

use std::process::Command;

use tgsi_compiler::Driver;

/// Versions, each with its environment for `spirv-val`.
const TARGETS: &[(&str, &str)] = &[
    ("vulkan1.0", "vulkan1.0"),
    ("vulkan1.1", "vulkan1.1"),
    ("vulkan1.2", "vulkan1.2"),
    ("vulkan1.3", "vulkan1.3"),
    ("portable", "vulkan1.1"),
    ("opengl4.6", "opengl4.5"),
];

fn tool(name: &str, arguments: &[&str], module: &[u8]) -> (bool, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("module.spv");
    std::fs::write(&path, module).expect("a file");
    let output = Command::new(name).args(arguments).arg(&path).output().expect("SPIRV-Tools");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// Emits IR without running earlier passes.
fn emit(source: &str, options: &[&str]) -> Result<Vec<u8>, String> {
    let target = tgsi_driver_spirv::DRIVER.target(options).expect("known options");
    let shader = tgsi_ir::text::parse(source).expect("IR");
    tgsi_ir::validate::validate(&shader).expect("valid IR");
    let mut passes = tgsi_ir::passes::pass_manager::Passes::default();
    let code = target.emit(shader, None, &mut passes).map_err(|error| error.to_string())?;
    Ok(code.into_bytes())
}

/// Returns the disassembly of a function without result ids.
fn assembly(source: &str, options: &[&str]) -> String {
    let module = emit(source, options).expect("code");
    let (_, text) = tool("spirv-dis", &["--no-header", "--raw-id", "--no-indent"], &module);
    text
}

/// Returns the opcodes of a function in order.
fn opcodes(assembly: &str) -> Vec<&str> {
    let word = |line: &'_ str| line.split_whitespace().find(|word| word.starts_with("Op")).map(str::len);
    assembly
        .lines()
        .skip_while(|line| !line.contains("OpFunction "))
        .filter_map(|line| {
            let start = line.find("Op")?;
            Some(&line[start..start + word(&line[start..])?])
        })
        .collect()
}

fn count(assembly: &str, text: &str) -> usize {
    assembly.lines().filter(|line| line.split_whitespace().any(|word| word == text)).count()
}

/// Returns a compute shader with this body, in which `%0` is 0, `%1` is 16 and `%2` is a word of buffer 0.
fn compute(header: &str, code: &str) -> String {
    format!(
        "shader: MESA_SHADER_COMPUTE\nworkgroup_size: 64, 1, 1\nnum_ssbos: 1\n{header}decl_function main () \
         (entrypoint)\n\nimpl main {{\n    block b0:\n    32 %0 = load_const (0x00000000)\n    32 %1 = load_const \
         (0x00000010)\n    32 %2 = @load_ssbo (%0, %1) (access=none, align_mul=4, align_offset=0)\n{code}}}\n"
    )
}

fn is_valid_everywhere(source: &str, but: &[&str]) {
    for (option, environment) in TARGETS.iter().filter(|(option, _)| !but.contains(option)) {
        let module = emit(source, &[option]).unwrap_or_else(|error| panic!("{option}: {error}"));
        let (valid, text) = tool("spirv-val", &["--target-env", environment], &module);
        assert!(valid, "{option}: {text}\n{}", tool("spirv-dis", &[], &module).1);
    }
}

const STORE: &str = "wrmask=x, access=none, align_mul=4, align_offset=0";

#[test]
fn constants_in_range_need_no_guard() {
    let known = "    32x4 %3 = @load_uniform (%0) (base=1, range=1, dest_type=float32)\n    32 %4 = fadd %3.y, %3.z\n";
    let source = compute("uniforms: 2\n", &format!("{known}    @store_ssbo (%4, %0, %1) ({STORE})\n"));
    let text = assembly(&source, &[]);
    assert_eq!(count(&text, "OpSelect"), 0, "{text}");
    is_valid_everywhere(&source, &[]);

    // The buffer ends after the declared and accessed part.
    let dynamic =
        "    32x4 %3 = @load_uniform (%2) (base=0, range=2, dest_type=float32)\n    32 %4 = fadd %3.y, %3.z\n";
    let source = compute("uniforms: 2\n", &format!("{dynamic}    @store_ssbo (%4, %0, %1) ({STORE})\n"));
    let text = assembly(&source, &[]);
    assert_eq!((count(&text, "OpSelect"), count(&text, "UMin")), (1, 1), "{text}");
    assert_eq!(count(&assembly(&source, &["robust"]), "OpSelect"), 0);
    is_valid_everywhere(&source, &[]);
}

#[test]
fn a_component_that_is_read_alone_is_loaded_alone() {
    let code = "    32x4 %3 = @load_uniform (%0) (base=1, range=1, dest_type=float32)\n    32 %4 = fadd %3.y, %3.y\n";
    let source = compute("uniforms: 2\n", &format!("{code}    @store_ssbo (%4, %0, %1) ({STORE})\n"));
    let text = assembly(&source, &[]);
    // Neither is a vector loaded nor a component extracted.
    assert_eq!(count(&text, "OpCompositeExtract"), 0, "{text}");
    is_valid_everywhere(&source, &[]);
}

#[test]
fn constants_have_the_class_of_their_readers() {
    for (op, float) in [("fadd", 1), ("iadd", 0)] {
        let code = format!(
            "    32x4 %3 = @load_uniform (%0) (base=1, range=1, dest_type=float32)\n    32 %4 = {op} %3.y, %3.x\n    \
             @store_ssbo (%4, %0, %1) ({STORE})\n"
        );
        let text = assembly(&compute("uniforms: 2\n", &code), &[]);
        assert_eq!(count(&text, "OpTypeFloat"), float, "{text}");
        assert_eq!(count(&text, "OpBitcast"), float, "only the store wants words: {text}");
    }
}

const TWO_BLOCKS: &str = "num_ubos: 2\ndecl_var ubo INTERP_MODE_NONE none vec4[1] ubo_1 (~0, 0, 0)\ndecl_var ubo \
                          INTERP_MODE_NONE none vec4[3] ubo_2 (~0, 1, 1)\n";

#[test]
fn a_block_that_the_run_says_is_one_of_an_array() {
    let code = format!(
        "    32x4 %3 = @load_ubo (%2, %1) (access=none, align_mul=16, align_offset=0, range_base=0, range=-1)\n    \
         @store_ssbo (%3, %0, %1) ({STORE})\n"
    );
    let source = compute(TWO_BLOCKS, &code);
    let text = assembly(&source, &[]);
    assert_eq!(count(&text, "UniformBufferArrayDynamicIndexing"), 1, "{text}");
    let portable = assembly(&source, &["portable"]);
    assert_eq!(count(&portable, "UniformBufferArrayDynamicIndexing"), 0, "{portable}");
    is_valid_everywhere(&source, &[]);
}

#[test]
fn words_of_constants_at_any_place() {
    for align in ["align_mul=4, align_offset=0", "align_mul=16, align_offset=8"] {
        for shape in ["32", "32x4", "64x3"] {
            let code = format!(
                "    {shape} %3 = @load_ubo (%0, %2) (access=none, {align}, range_base=0, range=-1)\n    @store_ssbo \
                 (%3, %0, %1) ({STORE})\n"
            );
            is_valid_everywhere(&compute(TWO_BLOCKS, &code), &[]);
        }
    }
}

#[test]
fn storage_buffers_are_guarded_by_their_length() {
    let source = compute("", &format!("    @store_ssbo (%2, %0, %2) ({STORE})\n"));
    let text = assembly(&source, &[]);
    assert_eq!(count(&text, "OpArrayLength"), 1, "{text}");
    assert_eq!(count(&text, "OpSelectionMerge"), 2, "{text}");
    let robust = assembly(&source, &["robust"]);
    assert_eq!((count(&robust, "OpArrayLength"), count(&robust, "OpSelectionMerge")), (0, 0), "{robust}");
    let old = assembly(&source, &["vulkan1.0"]);
    assert_eq!((count(&old, "BufferBlock"), count(&old, "StorageBuffer")), (1, 0), "{old}");
    is_valid_everywhere(&source, &[]);
}

#[test]
fn storage_buffers_say_how_they_are_accessed() {
    let read = compute("", "");
    let text = assembly(&read, &[]);
    assert_eq!((count(&text, "NonWritable"), count(&text, "NonReadable")), (1, 0), "{text}");
    let source = "shader: MESA_SHADER_COMPUTE\nworkgroup_size: 1, 1, 1\nnum_ssbos: 1\ndecl_function main () \
                  (entrypoint)\n\nimpl main {\n    block b0:\n    32 %0 = load_const (0x00000000)\n    @store_ssbo (%0, \
                  %0, %0) (wrmask=x, access=coherent|restrict, align_mul=4, align_offset=0)\n}\n";
    let text = assembly(source, &[]);
    for decoration in ["NonReadable", "Coherent", "Restrict"] {
        assert_eq!(count(&text, decoration), 1, "{decoration}: {text}");
    }
    is_valid_everywhere(source, &[]);
}

#[test]
fn storage_buffers_that_the_run_chooses() {
    let code = format!(
        "    32x4 %3 = @load_ssbo (%2, %2) (access=none, align_mul=4, align_offset=0)\n    32 %4 = @get_ssbo_size (%2) \
         (access=none)\n    32 %5 = @ssbo_atomic (%2, %1, %4) (access=none, atomic_op=imax)\n    @store_ssbo (%3, %2, \
         %1) (wrmask=xzw, access=none, align_mul=4, align_offset=0)\n    @store_ssbo (%5, %0, %1) ({STORE})\n"
    );
    let source = compute("", &code).replace("num_ssbos: 1", "num_ssbos: 3");
    let text = assembly(&source, &[]);
    assert_eq!(count(&text, "StorageBufferArrayDynamicIndexing"), 1, "{text}");
    is_valid_everywhere(&source, &[]);
}

#[test]
fn wide_values_are_words() {
    let code = "    64x3 %3 = @load_ssbo (%0, %2) (access=none, align_mul=4, align_offset=0)\n    @store_ssbo (%3, %0, \
                %2) (wrmask=xz, access=none, align_mul=4, align_offset=0)\n";
    is_valid_everywhere(&compute("", code), &[]);
}

#[test]
fn every_atomic_on_a_buffer() {
    for (op, instruction) in [
        ("iadd", "OpAtomicIAdd"),
        ("imin", "OpAtomicSMin"),
        ("umin", "OpAtomicUMin"),
        ("imax", "OpAtomicSMax"),
        ("umax", "OpAtomicUMax"),
        ("iand", "OpAtomicAnd"),
        ("ior", "OpAtomicOr"),
        ("ixor", "OpAtomicXor"),
        ("xchg", "OpAtomicExchange"),
        ("fadd", "OpAtomicCompareExchange"),
        ("fmin", "OpAtomicCompareExchange"),
        ("fmax", "OpAtomicCompareExchange"),
        ("inc_wrap", "OpAtomicCompareExchange"),
        ("dec_wrap", "OpAtomicCompareExchange"),
    ] {
        let code = format!(
            "    32 %3 = @ssbo_atomic (%0, %2, %1) (access=none, atomic_op={op})\n    @store_ssbo (%3, %0, %1) ({STORE})\n"
        );
        let source = compute("", &code);
        let text = assembly(&source, &[]);
        assert_eq!(count(&text, instruction), 1, "{op}: {text}");
        assert_eq!(count(&text, "OpLoopMerge"), usize::from(instruction == "OpAtomicCompareExchange"), "{op}");
        is_valid_everywhere(&source, &[]);
    }
    for op in ["cmpxchg", "fcmpxchg"] {
        let code = format!(
            "    32 %3 = @ssbo_atomic_swap (%0, %2, %1, %0) (access=none, atomic_op={op})\n    @store_ssbo (%3, %0, %1) \
             ({STORE})\n"
        );
        is_valid_everywhere(&compute("", &code), &[]);
    }
}

#[test]
fn words_are_signed_if_atomics_want_it() {
    let of = |ops: &[&str]| {
        let code: String = ops
            .iter()
            .enumerate()
            .map(|(number, op)| {
                format!("    32 %{} = @ssbo_atomic (%0, %2, %1) (access=none, atomic_op={op})\n", 3 + number)
            })
            .collect();
        compute("", &code)
    };
    let signed = |text: &str| text.lines().any(|line| line.contains("OpTypeInt 32 1"));
    assert!(signed(&assembly(&of(&["imin"]), &[])));
    assert!(!signed(&assembly(&of(&["umin"]), &[])));
    // If both are used, the portable form of the signed one is a loop.
    let both = of(&["imin", "umin"]);
    assert_eq!(count(&assembly(&both, &[]), "OpLoopMerge"), 0);
    assert_eq!(count(&assembly(&both, &["portable"]), "OpLoopMerge"), 1);
    is_valid_everywhere(&both, &[]);
}

#[test]
fn loops_of_atomics_leave_helpers_out() {
    let source = "shader: MESA_SHADER_FRAGMENT\nnum_ssbos: 1\ndecl_function main () (entrypoint)\n\nimpl main {\n    \
                  block b0:\n    32 %0 = load_const (0x00000000)\n    32 %1 = @ssbo_atomic (%0, %0, %0) (access=none, \
                  atomic_op=fadd)\n}\n";
    let text = assembly(source, &[]);
    assert_eq!(count(&text, "HelperInvocation"), 1, "{text}");
    is_valid_everywhere(source, &[]);
}

#[test]
fn shared_memory_starts_as_zero() {
    let code = "    32x2 %3 = @load_shared (%2) (base=4, align_mul=4, align_offset=0)\n    @store_shared (%3, %2) \
                (base=0, wrmask=xy, align_mul=4, align_offset=0)\n    32 %4 = @shared_atomic (%1, %2) (base=0, \
                atomic_op=iadd)\n    32 %5 = @shared_atomic_swap (%1, %2, %4) (base=0, atomic_op=cmpxchg)\n";
    let source = compute("shared_size: 32768\n", code);
    let text = assembly(&source, &[]);
    assert_eq!((count(&text, "OpLoopMerge"), count(&text, "OpControlBarrier")), (1, 1), "{text}");
    let new = assembly(&source, &["vulkan1.3"]);
    assert_eq!((count(&new, "OpLoopMerge"), count(&new, "OpControlBarrier")), (0, 0), "{new}");
    is_valid_everywhere(&source, &[]);

    // Memory that is accessed at constant places only has just these.
    let source =
        compute("shared_size: 32768\n", "    32x2 %3 = @load_shared (%1) (base=0, align_mul=4, align_offset=0)\n");
    let text = assembly(&source, &[]);
    assert_eq!(count(&text, "OpLoopMerge"), 0, "{text}");
    is_valid_everywhere(&source, &[]);
}

#[test]
fn counters_are_words_of_a_buffer() {
    let code = format!(
        "    32 %3 = @atomic_counter_read (%0) (base=0, range_base=4)\n    32 %4 = @atomic_counter_pre_dec (%0) (base=0, \
         range_base=4)\n    32 %5 = @atomic_counter_add (%2, %3) (base=0, range_base=4)\n    32 %6 = \
         @atomic_counter_comp_swap (%2, %3, %4) (base=1, range_base=0)\n    32 %7 = iadd %5, %6\n    @store_ssbo (%7, \
         %0, %1) ({STORE})\n"
    );
    let header = "num_abos: 1\ndecl_var uniform INTERP_MODE_NONE none atomic_uint[2] counters_0_0 (~0, 0, 0)\n";
    let source = compute(header, &code);
    let text = assembly(&source, &[]);
    // A declared counter at a constant place needs no guard.
    let first = opcodes(&text).iter().position(|&op| op == "OpAtomicLoad").expect("a load");
    let guards = opcodes(&text)[..first].iter().filter(|&&op| op == "OpSelectionMerge").count();
    assert_eq!(guards, 1, "that of the word of buffer 0: {text}");
    is_valid_everywhere(&source, &[]);
}

#[test]
fn subgroups() {
    let code = format!(
        "    1 %3 = ieq %2, %1\n    1 %4 = @vote_any (%3)\n    1 %5 = @vote_all (%4)\n    1 %6 = @vote_ieq (%2)\n    1 \
         %7 = @vote_feq (%2)\n    32x4 %8 = @ballot (%5)\n    64 %9 = @ballot (%6)\n    32 %10 = @read_invocation (%2, \
         %1)\n    1 %11 = @read_first_invocation (%7)\n    32x2 %12 = @shader_clock (memory_scope=DEVICE)\n    32 %13 = \
         bcsel %11, %10, %8.w\n    @store_ssbo (%13, %0, %1) ({STORE})\n    @store_ssbo (%12, %0, %1) \
         ({STORE})\n    @store_ssbo (%9, %0, %1) ({STORE})\n"
    );
    let source = compute("", &code);
    is_valid_everywhere(&source, &[]);
    assert_eq!(count(&assembly(&source, &["portable"]), "OpGroupNonUniformAllEqual"), 0);
    assert_eq!(count(&assembly(&source, &["vulkan1.1"]), "OpGroupNonUniformAllEqual"), 2);
    assert_eq!(count(&assembly(&source, &["vulkan1.0"]), "OpSubgroupAllKHR"), 3);
    let source = compute("", "    1 %3 = @elect\n");
    is_valid_everywhere(&source, &["vulkan1.0", "opengl4.6"]);
    assert!(emit(&source, &["vulkan1.0"]).is_err());
}

#[test]
fn barriers() {
    let none = "memory_scope=NONE, mem_semantics=NONE, mem_modes=0";
    let memory = "memory_scope=DEVICE, mem_semantics=ACQ|REL, mem_modes=image|ssbo|shared";
    let code = format!(
        "    @barrier (execution_scope=WORKGROUP, {none})\n    @barrier (execution_scope=NONE, {memory})\n    @barrier \
         (execution_scope=WORKGROUP, {memory})\n    @barrier (execution_scope=NONE, {none})\n"
    );
    let source = compute("", &code);
    let text = assembly(&source, &[]);
    assert_eq!((count(&text, "OpControlBarrier"), count(&text, "OpMemoryBarrier")), (2, 1), "{text}");
    is_valid_everywhere(&source, &[]);

    // Fragment shaders have no workgroup: only memory is ordered.
    let source = format!(
        "shader: MESA_SHADER_FRAGMENT\ndecl_function main () (entrypoint)\n\nimpl main {{\n    block b0:\n{code}    \
         @barrier (execution_scope=NONE, memory_scope=WORKGROUP, mem_semantics=ACQ|REL, mem_modes=shared)\n}}\n"
    );
    let text = assembly(&source, &[]);
    assert_eq!((count(&text, "OpControlBarrier"), count(&text, "OpMemoryBarrier")), (0, 2), "{text}");
    is_valid_everywhere(&source, &[]);
}

#[test]
fn registers_are_variables() {
    let code = format!(
        "    32 %3 = @decl_reg (num_components=4, num_array_elems=3, bit_size=32, divergent=1)\n    32 %4 = @decl_reg \
         (num_components=1, num_array_elems=0, bit_size=1, divergent=1)\n    32x4 %5 = @load_reg_indirect (%3, %2) \
         (base=1, legacy_fabs=1, legacy_fneg=1)\n    @store_reg (%5, %3) (base=2, wrmask=xyzw, \
         legacy_fsat=1)\n    @store_reg_indirect (%5, %3, %2) (base=0, wrmask=yw, legacy_fsat=0)\n    1 %6 = \
         @load_reg (%4) (base=0, legacy_fabs=0, legacy_fneg=0)\n    1 %7 = inot %6\n    @store_reg (%7, %4) (base=0, \
         wrmask=x, legacy_fsat=0)\n    @store_ssbo (%5, %0, %1) ({STORE})\n"
    );
    let source = compute("", &code);
    let text = assembly(&source, &[]);
    for (word, times) in [("FAbs", 1), ("OpFNegate", 1), ("NClamp", 1)] {
        assert_eq!(count(&text, word), times, "{word}: {text}");
    }
    // Reads of the array clamp the index, stores are conditional.
    assert_eq!((count(&text, "UMin"), count(&text, "OpSelect")), (1, 1), "{text}");
    assert_eq!(count(&text, "OpSelectionMerge"), 3, "two of the buffer, one of the register: {text}");
    is_valid_everywhere(&source, &[]);
}

fn locals(declarations: &str, code: &str) -> String {
    compute("", code).replace("decl_function", &format!("{declarations}decl_function"))
}

#[test]
fn variables_are_guarded() {
    let code = format!(
        "    32 %3 = deref_var &t (shader_temp vec4[4])\n    32 %4 = deref_array &(*%3)[%2] (shader_temp vec4)\n    \
         32x4 %5 = @load_deref (%4) (access=none)\n    @store_deref (%4, %5) (wrmask=xz, access=none)\n    32 %6 = \
         deref_array &(*%3)[%0] (shader_temp vec4)\n    @store_deref (%6, %5) (wrmask=xyzw, access=none)\n    \
         @store_ssbo (%5, %0, %1) ({STORE})\n"
    );
    let source = locals("decl_var INTERP_MODE_NONE none vec4[4] t\n", &code);
    let text = assembly(&source, &[]);
    assert_eq!((count(&text, "UMin"), count(&text, "OpSelect")), (1, 1), "{text}");
    assert_eq!(count(&text, "OpSelectionMerge"), 3, "two of the buffer, one of the array: {text}");
    is_valid_everywhere(&source, &[]);
}

#[test]
fn initialized_variables_are_constants() {
    let code = format!(
        "    32 %3 = deref_var &t (shader_temp uint[2])\n    32 %4 = deref_array &(*%3)[%2] (shader_temp uint)\n    32 \
         %5 = @load_deref (%4) (access=none)\n    @store_ssbo (%5, %0, %1) ({STORE})\n"
    );
    let source = locals("decl_var INTERP_MODE_NONE none uint[2] t = { { 0x00000001 }, { 0x00000002 } }\n", &code);
    let text = assembly(&source, &[]);
    assert_eq!((count(&text, "Private"), count(&text, "OpConstantComposite")), (3, 1), "{text}");
    is_valid_everywhere(&source, &[]);
}

#[test]
fn shared_variables_start_as_zero() {
    let code = "    32 %3 = deref_var &t (shared uint[2])\n    32 %4 = deref_array &(*%3)[%2] (shared uint)\n    \
                @store_deref (%4, %2) (wrmask=x, access=none)\n";
    let source = locals("decl_var shared INTERP_MODE_NONE none uint[2] t\n", code);
    let text = assembly(&source, &[]);
    assert_eq!(count(&text, "OpControlBarrier"), 1, "{text}");
    is_valid_everywhere(&source, &[]);
}

#[test]
fn constant_data_and_scratch_memory() {
    let code = format!(
        "    @store_scratch (%2, %2) (align_mul=4, align_offset=0, wrmask=x)\n    32x2 %3 = @load_scratch (%1) \
         (align_mul=4, align_offset=0)\n    32x4 %4 = @load_constant (%2) (base=0, range=32, access=none, align_mul=16, \
         align_offset=0)\n    @store_ssbo (%3, %0, %1) ({STORE})\n    @store_ssbo (%4, %0, %1) ({STORE})\n"
    );
    let data = format!("scratch: 64\nconstant_data: 0x{}\n", "3f80000040000000".repeat(4));
    let source = compute(&data, &code);
    let text = assembly(&source, &[]);
    assert_eq!(count(&text, "Private"), 3, "{text}");
    is_valid_everywhere(&source, &[]);
}
