//! The contents of files, from programs.

use std::collections::BTreeMap;

use tgsi_compiler::front_end::Interface;

use super::{Attribute, Constant, FragmentFile, ParameterType, VertexFile};
use crate::container::names::{self, Case, Type};
use crate::container::uniforms::{Leaf, Run, Uniforms, used_by_fragment, used_by_vertex};
use crate::container::{ContainerError, check};
use crate::isa::Chip;
use crate::program::{FragmentProgram, Texture, Varying, VertexProgram};

/// The bits of the control register that the library adds: the number of registers.
const CONTROL: u32 = 0x00ff_ffff;

impl VertexFile {
    /// The contents for a program.
    ///
    /// # Errors
    /// [`ContainerError`] if the format cannot represent the program.
    pub fn new(program: &VertexProgram, interface: &Interface) -> Result<VertexFile, ContainerError> {
        check_chip("vpo", program.chip)?;
        check::vertex(program)?;
        let uniforms = Uniforms::new(interface, &used_by_vertex(program, interface))?;
        let mut constants = Vec::new();
        list(&uniforms, false, |row| row, &mut constants)?;
        let limit = program.chip.limits().vertex.constants.into();
        if let Some(constant) = constants.iter().find(|constant| constant.index >= limit) {
            return Err(ContainerError::Limit("constants", u64::from(constant.index) + 1, limit.into()));
        }
        constants.extend(program.literals.iter().map(|literal| Constant {
            name: None,
            index: literal.constant.into(),
            ty: ParameterType::FLOAT4,
            is_internal: true,
            count: 1,
            value: literal.words,
        }));
        Ok(VertexFile {
            registers: program.temporaries.into(),
            input_mask: program.input_mask(),
            output_mask: both_sides(program.output_mask()),
            first_constant: 0,
            first_slot: 0,
            attributes: attributes(&program.inputs, &program.textures, interface)?,
            constants,
            slots: program.slots.clone(),
        })
    }
}

/// Enables the colours of both sides if one is enabled, as other compilers do.
pub(in crate::container) fn both_sides(mask: u32) -> u32 {
    const FRONT: u32 = 3;
    let colours = (mask | mask >> 2) & FRONT;
    mask | colours | colours << 2
}

impl FragmentFile {
    /// The contents for a program. Slots of uniforms have the initial values that the source states.
    ///
    /// # Errors
    /// [`ContainerError`] if the format cannot represent the program.
    pub fn new(program: &FragmentProgram, interface: &Interface) -> Result<FragmentFile, ContainerError> {
        check_chip("fpo", program.chip)?;
        check::fragment(program)?;
        let uniforms = Uniforms::new(interface, &used_by_fragment(program))?;
        let (mut tables, mut numbers) = (Vec::<Vec<u32>>::new(), BTreeMap::new());
        for patch in &program.program.patches {
            let number = *numbers.entry(patch.constant).or_insert(tables.len());
            if number == tables.len() {
                tables.push(Vec::new());
            }
            tables[number].push(patch.slot * super::SLOT);
        }
        let mut constants = Vec::new();
        list(&uniforms, true, |row| numbers.get(&row).copied(), &mut constants)?;
        let (texcoords_2d, texcoords_3d) = (program.texcoords_2d(), program.texcoords() & !program.texcoords_2d());
        Ok(FragmentFile {
            registers: program.registers.max(2).into(),
            control: program.control() & CONTROL,
            texcoords: program.texcoords(),
            texcoords_2d,
            texcoords_3d,
            attributes: attributes(&program.inputs, &program.textures, interface)?,
            constants,
            tables,
            words: uniforms.words(&program.program),
        })
    }
}

pub(in crate::container) fn check_chip(format: &'static str, chip: Chip) -> Result<(), ContainerError> {
    if chip == Chip::Nv30 { Err(ContainerError::Chip(format, chip)) } else { Ok(()) }
}

fn attributes(
    inputs: &[Varying],
    textures: &[Texture],
    interface: &Interface,
) -> Result<Vec<Attribute>, ContainerError> {
    let attribute = |name, ty, number: u8| Attribute {
        name: Some(name),
        index: number.into(),
        ty: ParameterType::new(ty).unwrap_or(ParameterType::FLOAT4),
    };
    let inputs = names::varyings(inputs, &interface.inputs, "in").into_iter();
    let samplers = names::samplers(textures, interface).into_iter();
    let inputs = inputs.map(|named| attribute(named.name, named.ty, named.item.number));
    let samplers = samplers.map(|named| attribute(named.name, named.ty, named.item.unit));
    let attributes: Vec<_> = inputs.chain(samplers).collect();
    names::check(attributes.iter().filter_map(|attribute| attribute.name.as_deref()), Case::Ignored)?;
    Ok(attributes)
}

/// Lists the entries of all uniforms.
fn list<I>(
    uniforms: &Uniforms,
    has_booleans: bool,
    index: impl Fn(u32) -> I,
    constants: &mut Vec<Constant<I>>,
) -> Result<(), ContainerError> {
    let mut add = |run: &Run, ty: ParameterType| {
        // A longer array is listed by its elements only.
        let Ok(rows) = u8::try_from(run.rows) else { return Ok(()) };
        for row in 0..rows {
            let register = run.register + u32::from(row);
            let is_first = row == 0;
            constants.push(Constant {
                name: is_first.then(|| run.name.clone()),
                index: index(register),
                ty: if is_first { ty } else { ParameterType(0) },
                is_internal: false,
                count: if is_first { rows } else { 0 },
                value: uniforms.initial(register),
            });
        }
        let number = constants.len() as u64;
        let limit = u64::from(u16::MAX);
        if number > limit { Err(ContainerError::Limit("constants", number, limit)) } else { Ok(()) }
    };
    for leaf in &uniforms.leaves {
        let ty = element_type(leaf, has_booleans);
        if leaf.is_array {
            add(&leaf.whole(), ty)?;
        }
        for element in leaf.elements() {
            add(&element, ty)?;
            if matches!(leaf.ty, Type::Matrix { .. }) && ParameterType::new(leaf.ty).is_none() {
                element.columns().try_for_each(|column| add(&column, ty))?;
            }
        }
    }
    names::check(constants.iter().filter_map(|constant| constant.name.as_deref()), Case::Ignored)
}

/// The type of an element, or of its columns if it is a matrix that the format lacks. The library does not set boolean
/// uniforms of vertex programs; they are floats there.
fn element_type(leaf: &Leaf, has_booleans: bool) -> ParameterType {
    let ty = match leaf.ty {
        Type::Vector { is_bool, size } => Type::Vector { is_bool: is_bool && has_booleans, size },
        ty => ty,
    };
    let columns = |ty| if let Type::Matrix { size, .. } = ty { Type::vector(size) } else { Type::vector(4) };
    ParameterType::new(ty).or_else(|| ParameterType::new(columns(ty))).unwrap_or(ParameterType::FLOAT4)
}
