//! Interface blocks of two stages: blocks of one name and interface have the same members.

use rustc_hash::FxHashMap;

use super::LinkError;
use super::compare::{Difference, difference};
use super::separable::is_exact;
use crate::keyword::Keyword;
use crate::program::{Block, Member, Storage, Variable};
use crate::stage::{StageUnit, stage_name};
use crate::token::TokenRange;
use crate::types::{TypeData, TypeId};

/// The blocks of a storage by name.
fn blocks(stage: &StageUnit, storage: Storage) -> FxHashMap<&str, &Block> {
    let of_storage = stage.program.arenas.block.iter().filter(|block| block.storage == storage);
    of_storage.map(|block| (stage.interner.spelling(block.name), block)).collect()
}

/// Uniform and storage blocks of one name are one block.
pub(super) fn check_memory_blocks(producer: &StageUnit, consumer: &mut StageUnit) {
    for storage in [Storage::Uniform, Storage::Buffer] {
        check(producer, consumer, [storage, storage]);
    }
}

/// Blocks of outputs and inputs of one name are one block.
pub(super) fn check_blocks_between(producer: &StageUnit, consumer: &mut StageUnit) {
    check(producer, consumer, [Storage::Output, Storage::Input]);
}

fn check(producer: &StageUnit, consumer: &mut StageUnit, storages: [Storage; 2]) {
    let mut errors: Vec<(LinkError, TokenRange)> = Vec::new();
    {
        let other = stage_name(producer.program.stage);
        let known = blocks(producer, storages[0]);
        for block in consumer.program.arenas.block.iter().filter(|block| block.storage == storages[1]) {
            let name = consumer.interner.spelling(block.name);
            // Redeclarations of `gl_PerVertex` may leave out members.
            let Some(first) = known.get(name).filter(|_| name != "gl_PerVertex") else { continue };
            if let Some(difference) = block_difference([producer, consumer], [first, block]) {
                errors.push((LinkError::Block { name: name.to_owned(), other, difference }, block.tokens));
            }
        }
    }
    errors.iter().for_each(|(error, tokens)| consumer.report(error, *tokens));
}

/// The first difference of two blocks.
fn block_difference(stages: [&StageUnit; 2], blocks: [&Block; 2]) -> Option<String> {
    let [first, second] = blocks;
    let [a, b] = stages;
    let structure = |stage: &StageUnit, block: &Block| {
        stage.program.types.without_arrays(stage.program.variable(block.variable).ty)
    };
    let [of_first, of_second] = [structure(a, first), structure(b, second)];
    let [fields, others] = [a.program.types.fields(of_first), b.program.types.fields(of_second)];
    if fields.len() != others.len() {
        return Some(format!("it has {} members instead of {}", others.len(), fields.len()));
    }
    let is_memory = matches!(first.storage, Storage::Uniform | Storage::Buffer);
    let is_exact = !is_memory && is_exact(a, b);
    if is_memory && first.packing != second.packing {
        return Some("its layout is another one".to_owned());
    }
    for ((field, other), (member, other_member)) in
        fields.iter().zip(others).zip(first.members.iter().zip(&second.members))
    {
        let [name, other_name] = [a.interner.spelling(field.name), b.interner.spelling(other.name)];
        if name != other_name {
            return Some(format!("`{other_name}` instead of `{name}`"));
        }
        if is_memory && (member.row_major != other_member.row_major || member.offset != other_member.offset) {
            return Some(format!("the layout of `{name}` is another one"));
        }
        let types = [member_type(a, first, member, field.ty), member_type(b, second, other_member, other.ty)];
        let variable =
            |stage: &StageUnit, block: &Block, ty| Variable { ty, ..stage.program.variable(block.variable).clone() };
        let pair = [&variable(a, first, types[0]), &variable(b, second, types[1])];
        let precisions = [field, other].map(|field| field.precision.map_or("without precision", Keyword::name));
        if is_exact && precisions[0] != precisions[1] {
            return Some(format!("`{name}` is {} instead of {}", precisions[1], precisions[0]));
        }
        match difference(stages, pair, false) {
            Some(Difference::Type { found, expected }) => {
                return Some(format!("`{name}` is {found} instead of {expected}"));
            }
            Some(Difference::Fields(difference)) => return Some(format!("in `{name}` {difference}")),
            Some(Difference::Precision { .. }) | None => {}
        }
    }
    // The dimensions of blocks, without those of vertices.
    let dimensions = |stage: &StageUnit, block: &Block| {
        let mut lengths = Vec::new();
        let mut ty = stage.program.type_of_vertex(block.variable);
        while let TypeData::Array { element, length } = stage.program.types.get(ty) {
            lengths.push(length);
            ty = element;
        }
        lengths
    };
    let [expected, found] = [dimensions(a, first), dimensions(b, second)];
    if expected != found {
        return Some("it has another number of elements".to_owned());
    }
    let is_instanced = first.has_instance == second.has_instance || !is_memory;
    (!is_instanced).then(|| "only one of them has an instance name".to_owned())
}

/// The type of a member. Those of inputs and outputs have variables, with the dimensions of the block, in which arrays
/// without a length got one.
fn member_type(stage: &StageUnit, block: &Block, member: &Member, declared: TypeId) -> TypeId {
    let program = &stage.program;
    let Some(variable) = member.variable else { return declared };
    let (mut of_block, mut ty) = (program.variable(block.variable).ty, program.variable(variable).ty);
    while let (TypeData::Array { element: outer, .. }, TypeData::Array { element, .. }) =
        (program.types.get(of_block), program.types.get(ty))
    {
        (of_block, ty) = (outer, element);
    }
    ty
}
