//! Passes a value through memory.

use rustc_hash::FxHashMap;
use spirv::Op;

use crate::editor::{Editor, TypeClass};
use crate::module::Inst;

/// `v = ...` becomes `v = ...; store variable, v; w = load variable`, and `w` is used. A composite may be stored member
/// by member.
pub fn store_and_load(editor: &mut Editor, function: usize) -> Option<()> {
    let value = editor.choose_value(function, |class| matches!(class, TypeClass::Vector | TypeClass::Composite))?;
    let is_private = editor.random.one_in(4);
    let variable = if is_private {
        let initial = editor.module.fresh();
        editor.module.add_global(Inst::new(Op::ConstantNull, [value.ty, initial]));
        editor.private_variable(value.ty, initial)
    } else {
        editor.local_variable(function, value.ty, None)?
    };
    // The variable may be in the block of the value.
    let at = value.at + usize::from(!is_private && value.block == 0);
    let class = if is_private { spirv::StorageClass::Private } else { spirv::StorageClass::Function };
    let new = editor.fresh();
    let mut insts = Vec::new();
    match editor.members(value.ty) {
        Some(members) if editor.random.one_in(2) => {
            let int = editor.int_type(true);
            for (number, ty) in members.into_iter().enumerate() {
                let index = editor.int_constant(int, number as u32);
                let pointer_type = editor.pointer_type(class, ty);
                let (part, pointer) = (editor.fresh(), editor.fresh());
                insts.push(Inst::new(Op::CompositeExtract, [ty, part, value.id, number as u32]));
                insts.push(Inst::new(Op::AccessChain, [pointer_type, pointer, variable, index]));
                insts.push(Inst::new(Op::Store, [pointer, part]));
            }
        }
        _ => insts.push(Inst::new(Op::Store, [variable, value.id])),
    }
    insts.push(Inst::new(Op::Load, [value.ty, new, variable]));
    let names = FxHashMap::from_iter([(value.id, new)]);
    editor.replace_uses(function, &names, |_| false);
    editor.insert(function, value.block, at, insts);
    Some(())
}
