//! Narrows output arrays, and their copies at the end, to the elements that the shader writes: `gl_FragData` has as many
//! elements as there are buffers, and most shaders write one.

use rustc_hash::{FxHashMap, FxHashSet};
use tgsi_ir::body::DerefKind;
use tgsi_ir::entities::{Function, Inst, Type as IrType, User, Variable as IrVariable};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::shader::Shader;
use tgsi_ir::types::TypeData as IrTypeData;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Builder, Cursor, InstData};

/// The elements of a variable that may be written.
#[derive(Debug, Default)]
struct Written {
    elements: FxHashSet<u64>,
    /// Any element may be.
    is_whole: bool,
}

/// Replaces copies of whole arrays from a shadow to its output by copies of the elements that are written, and ends the
/// array after the last one, or the last of those that are fetched.
pub(super) fn narrow_copies(
    shader: &mut Shader,
    shadows: &[(IrVariable, IrVariable)],
    fetched: &FxHashMap<IrVariable, u32>,
) {
    let element_of = |variable: IrVariable| match *shader.types.get(shader.variables[variable].ty) {
        IrTypeData::Array { element, .. } => Some(element),
        _ => None,
    };
    let arrays: FxHashMap<IrVariable, (IrVariable, IrType)> =
        shadows.iter().filter_map(|&(output, shadow)| Some((shadow, (output, element_of(output)?)))).collect();
    if arrays.is_empty() {
        return;
    }
    let mut written: FxHashMap<IrVariable, Written> = FxHashMap::default();
    let mut copies: Vec<(Function, IrVariable, Inst)> = Vec::new();
    for (function, body) in shader.functions.iter().filter_map(|(id, function)| Some((id, function.body.as_ref()?))) {
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            let InstData::Deref { kind: DerefKind::Var(variable), .. } = *body.inst(inst) else { continue };
            if arrays.contains_key(&variable) {
                note_uses(body, inst, written.entry(variable).or_default(), |copy| {
                    copies.push((function, variable, copy));
                });
            }
        }
    }
    for (id, function) in shader.functions.iter_mut() {
        let Some(body) = function.body.as_mut() else { continue };
        for &(_, shadow, copy) in copies.iter().filter(|(function, ..)| *function == id) {
            let Some((&(output, element), written)) = arrays.get(&shadow).zip(written.get(&shadow)) else { continue };
            if written.is_whole || !is_copy_of(body, copy, output) {
                continue;
            }
            let mut elements: Vec<u64> = written.elements.iter().copied().collect();
            elements.sort_unstable();
            let whole = shader.variables[shadow].ty;
            // Only the copies are accesses to the output.
            let length = elements.last().map_or(1, |&last| last as u32 + 1);
            let length = length.max(fetched.get(&output).copied().unwrap_or(0));
            let shortened = shader.types.intern(IrTypeData::Array { element, length, stride: 0 });
            shader.variables[output].ty = shortened;
            let mut b = Builder::new(body, Cursor::Before(copy));
            for number in elements {
                let number = b.u32_const(number as u32);
                let to = b.deref_var(output, VariableModes::SHADER_OUT, shortened);
                let to = b.deref_array(to, number, element);
                let from = b.deref_var(shadow, VariableModes::SHADER_TEMP, whole);
                let from = b.deref_array(from, number, element);
                b.intrinsic(IntrinsicOp::CopyDeref, &[to, from], &[], None);
            }
            // With its access to the whole output, whose type changed.
            let whole_output = body.def_inst(body.src(copy, 0));
            body.remove_inst(copy);
            body.remove_inst(whole_output);
        }
    }
}

/// Notes the elements that the uses of a variable's deref may write, and copies of the whole from it.
fn note_uses(body: &Body, deref: Inst, written: &mut Written, mut copy: impl FnMut(Inst)) {
    let Some(def) = body.inst_def(deref) else { return };
    for source in body.uses_of(def) {
        let User::Inst(user) = body.user(source) else { continue };
        match body.inst(user) {
            InstData::Deref { kind: DerefKind::Array, .. } if is_only_loaded(body, user) => {}
            InstData::Deref { kind: DerefKind::Array, .. } => match body.constant_component(body.src(user, 1), 0) {
                Some(index) => {
                    written.elements.insert(index);
                }
                None => written.is_whole = true,
            },
            _ if body.intrinsic(user) == Some(IntrinsicOp::CopyDeref) && body.src(user, 1) == def => copy(user),
            _ => written.is_whole = true,
        }
    }
}

/// Whether a deref is only read.
fn is_only_loaded(body: &Body, deref: Inst) -> bool {
    let Some(def) = body.inst_def(deref) else { return true };
    body.uses_of(def).all(|source| match body.user(source) {
        User::Inst(user) => body.intrinsic(user) == Some(IntrinsicOp::LoadDeref),
        _ => false,
    })
}

/// Whether an instruction of a body copies to an output.
fn is_copy_of(body: &Body, copy: Inst, output: IrVariable) -> bool {
    if body.intrinsic(copy) != Some(IntrinsicOp::CopyDeref) {
        return false;
    }
    let to = body.inst(body.def_inst(body.src(copy, 0)));
    matches!(*to, InstData::Deref { kind: DerefKind::Var(variable), .. } if variable == output)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use tgsi_ir::shader::ShaderStage;

    use crate::options::GlslOptions;

    /// Which slots a fragment shader writes, from `gl_FragData[0]`.
    fn written(body: &str) -> u64 {
        let text = format!("uniform int n; void main() {{ {body} }}");
        let compiled = crate::compile(text.as_bytes(), ShaderStage::Fragment, &GlslOptions::default());
        let module = compiled.module.unwrap_or_else(|| panic!("{:?}", compiled.findings));
        module.shader.info.outputs_written >> i32::from(tgsi_ir::slots::FragResult::DATA0)
    }

    #[test]
    fn only_written_elements_are_outputs() {
        assert_eq!(written("gl_FragData[0] = vec4(1.0);"), 1);
        assert_eq!(written("gl_FragData[2].y = 1.0; gl_FragData[0] = gl_FragData[1];"), 5);
        assert_eq!(written("gl_FragData[n] = vec4(1.0);"), 255);
    }
}
