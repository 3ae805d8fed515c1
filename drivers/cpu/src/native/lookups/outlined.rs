//! Out-of-line lookups. A lookup has some hundreds of instructions; in a program with many, equal ones become a
//! function that is called, which keeps the functions of stretches small enough for good register allocation.
//!
//! Such a function has the parameters of [`crate::native::sampling::look_up`], and returns its results in the same
//! place.

use cranelift_codegen::ir::types::{I32X4, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value as Ir};
use cranelift_codegen::isa::CallConv;
use rustc_hash::FxHashMap;
use tgsi_ir::body::TexData;
use tgsi_ir::run::program::{Op, Program, TEX_SOURCE_KINDS, Texture};

use super::known_unit;
use crate::native::context::offsets;
use crate::native::emit::{Emitter, VECTOR, fixed, trusted};
use crate::native::sampling::Plan;
use crate::native::stretches::Stretch;
use crate::sampler::Known;

/// Most instructions, of Cranelift's IR, of all inline lookups of a program: those of about five lookups of the nearest
/// texel, or of one between levels. A call makes a bilinear lookup slightly slower.
const MAX_INLINE: usize = 1500;

/// The key of lookups that can share a function: the known unit, the instruction, components of the result, and
/// components and bits of the operands.
type Key = (usize, TexData, u8, [(u8, u8); TEX_SOURCE_KINDS]);

/// The out-of-line lookups of a program.
#[derive(Default)]
pub(in crate::native) struct Outlined {
    /// The index of the function, by the number of the texture instruction.
    pub functions: FxHashMap<u32, usize>,
    /// A texture instruction of each function.
    pub instructions: Vec<u32>,
}

impl Outlined {
    /// Chooses among the lookups in stretches; `size_of` returns the number of instructions of one.
    pub fn choose(
        program: &Program,
        stretches: &[Stretch],
        known: &[Known],
        mut size_of: impl FnMut(u32) -> usize,
    ) -> Outlined {
        let mut groups: FxHashMap<Key, Vec<u32>> = FxHashMap::default();
        for stretch in stretches {
            for op in &program.ops()[stretch.range.start as usize..stretch.range.end as usize] {
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

/// Returns the signature of [`LookUp`](crate::native::sampling::LookUp).
pub(in crate::native) fn signature(call_conv: CallConv) -> Signature {
    let mut signature = Signature::new(call_conv);
    signature.params.extend([AbiParam::new(I64); 3]);
    signature
}

impl Emitter<'_, '_> {
    /// Emits the function of a lookup in a known unit.
    pub fn lookup(mut self, texture: &Texture) {
        let entry = self.builder.create_block();
        self.builder.append_block_params_for_function_params(entry);
        self.builder.switch_to_block(entry);
        self.builder.seal_block(entry);
        let [context, number, area] = [0, 1, 2].map(|at| self.builder.block_params(entry)[at]);
        self.context = context;
        let at = |vector: usize| vector as i32 * VECTOR as i32;
        let vectors = Plan::new(texture).vectors;
        let operands: Vec<Ir> =
            (1..vectors).map(|vector| self.builder.ins().load(I32X4, trusted(), area, at(vector))).collect();
        let count = texture.dest.planes() as usize;
        let unit = known_unit(self.program, texture, self.known).unwrap_or(usize::MAX);
        let results = self.look_up_known(unit, texture, &operands, |emitter| {
            let callee = emitter.builder.ins().load(I64, fixed(), context, offsets::LOOK_UP as i32);
            let signature = emitter.builder.import_signature(signature(emitter.call_conv));
            emitter.builder.ins().call_indirect(signature, callee, &[context, number, area]);
            (0..count).map(|vector| emitter.builder.ins().load(I32X4, trusted(), area, at(vector))).collect()
        });
        for (vector, result) in results.into_iter().enumerate() {
            self.builder.ins().store(trusted(), result, area, at(vector));
        }
        self.builder.ins().return_(&[]);
        self.builder.finalize();
    }
}
