//! Out-of-line lookups. A lookup has some hundreds of instructions; in a program with many, equal ones become a
//! function that is called, which keeps the functions of regions small enough for good register allocation.
//!
//! Such a function is a [`LookUp`](crate::native::runtime::context::LookUp), and returns its results in the area.

use cranelift_codegen::ir::types::{I32X4, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value as Ir};
use cranelift_codegen::isa::CallConv;
use rustc_hash::FxHashMap;
use tgsi_ir::body::TexData;
use tgsi_ir::run::Program;
use tgsi_ir::run::native::{Op, TEX_SOURCE_KINDS, Texture};

use crate::native::analysis::known_units::known_unit;
use crate::native::analysis::regions::Region;
use crate::native::emission::emitter::{Emitter, VECTOR, readonly_flags, trusted_flags};
use crate::native::limits::MAX_INLINE;
use crate::native::runtime::context::offsets;
use crate::native::runtime::sampling::Plan;
use crate::sampler::KnownUnitState;

/// The key of lookups that can share a function: the known unit, the instruction, components of the result, and
/// components and bits of the operands.
type Key = (usize, TexData, u8, [(u8, u8); TEX_SOURCE_KINDS]);

/// The out-of-line lookups of a program.
#[derive(Default)]
pub(in crate::native::emission) struct Outlined {
    /// The index of the function, by the number of the texture instruction.
    pub functions: FxHashMap<u32, usize>,
    /// A texture instruction of each function.
    pub instructions: Vec<u32>,
}

impl Outlined {
    /// Chooses among the lookups in regions; `size_of` returns the number of instructions of one.
    pub fn choose(
        program: &Program,
        regions: &[Region],
        known: &[KnownUnitState],
        mut size_of: impl FnMut(u32) -> usize,
    ) -> Outlined {
        let mut groups: FxHashMap<Key, Vec<u32>> = FxHashMap::default();
        for region in regions {
            for op in &program.ops()[region.range.start as usize..region.range.end as usize] {
                let &Op::Texture(number) = op else { continue };
                let texture = &program.textures()[number as usize];
                if let Some(unit) = known_unit(program, texture, known) {
                    groups.entry(key(unit, texture)).or_default().push(number);
                }
            }
        }
        let sized = |numbers: Vec<u32>| Some((size_of(*numbers.first()?) * numbers.len(), numbers));
        let mut groups: Vec<(usize, Vec<u32>)> = groups.into_values().filter_map(sized).collect();
        groups.sort_unstable();
        let mut left = MAX_INLINE;
        let mut outlined = Outlined::default();
        for (size, numbers) in groups {
            if size <= left {
                left -= size;
                continue;
            }
            outlined.functions.extend(numbers.iter().map(|&number| (number, outlined.instructions.len())));
            outlined.instructions.push(numbers[0]);
        }
        outlined
    }
}

fn key(unit: usize, texture: &Texture) -> Key {
    (unit, texture.data, texture.dest.components, texture.sources.map(|source| (source.components, source.bits)))
}

/// Returns the signature of [`LookUp`](crate::native::runtime::context::LookUp).
pub(in crate::native::emission) fn signature(call_conv: CallConv) -> Signature {
    let mut signature = Signature::new(call_conv);
    signature.params.extend([AbiParam::new(I64); 3]);
    signature
}

impl Emitter<'_, '_> {
    /// Emits the function of a lookup in a known unit.
    pub fn emit_lookup(mut self, texture: &Texture) {
        let entry = self.builder.create_block();
        self.builder.append_block_params_for_function_params(entry);
        self.builder.switch_to_block(entry);
        self.builder.seal_block(entry);
        let [context, number, area] = [0, 1, 2].map(|at| self.builder.block_params(entry)[at]);
        self.region.context = context;
        let at = |vector: usize| vector as i32 * VECTOR as i32;
        let vectors = Plan::new(texture).vectors;
        let operands: Vec<Ir> =
            (1..vectors).map(|vector| self.builder.ins().load(I32X4, trusted_flags(), area, at(vector))).collect();
        let count = texture.dest.vectors() as usize;
        let unit = known_unit(self.function.program, texture, self.function.known).unwrap_or(usize::MAX);
        let results = self.emit_specialized_lookup(unit, texture, &operands, |emitter| {
            let callee = emitter.builder.ins().load(I64, readonly_flags(), context, offsets::LOOK_UP as i32);
            let signature = emitter.builder.import_signature(signature(emitter.function.call_conv));
            emitter.builder.ins().call_indirect(signature, callee, &[context, number, area]);
            (0..count).map(|vector| emitter.builder.ins().load(I32X4, trusted_flags(), area, at(vector))).collect()
        });
        for (vector, result) in results.into_iter().enumerate() {
            self.builder.ins().store(trusted_flags(), result, area, at(vector));
        }
        self.builder.ins().return_(&[]);
        self.builder.finalize();
    }
}
