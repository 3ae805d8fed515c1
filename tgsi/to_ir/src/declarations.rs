//! The storage of the registers of the files `TEMP`, `ADDR` and `OUT`, and the shader-wide state of a translation.
//!
//! The storage of a register is a [`VariableLocation`]: an IR register, an element of an array variable, or nowhere
//! (undeclared). The locations and arrays of a file are a [`Bank`]. Arrays of one file that share registers become one
//! array variable; an access without an array number makes the whole file one.

use hashbrown::HashMap;

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::{Def, Function, Type, Variable};
use tgsi_ir::intrinsics::IndexKind;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::types::ScalarType;
use tgsi_ir::variable::{VariableData, VariableModes};
use tgsi_ir::{AluFlags, Shader as IrShader};

use super::ToIrOptions;
use super::control_flow::Translator;
use super::inputs_outputs::IoFile;
use super::usage::Usage;
use crate::slots::stage_of;
use tgsi::internals::Structure;
use tgsi::shader::{Declaration, Shader};
use tgsi::tables::{File, Processor, PropertyName};

/// Storage of a vector or scalar.
#[derive(Clone, Copy, Debug)]
pub(super) enum Single {
    /// A register, by its handle.
    Register(Def),
    /// A `shader_temp` variable of this type and number of components.
    Variable(Variable, Type, u8),
}

/// The storage of a register.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum VariableLocation {
    /// The register does not exist: reads 0, drops writes.
    #[default]
    Nowhere,
    /// A separate register or variable.
    Single(Single),
    /// An element of an array of the bank.
    Element(usize, u32),
}

/// An array variable that holds registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Array {
    pub(super) variable: Variable,
    pub(super) ty: Type,
    /// The register that is element 0.
    pub(super) first: i32,
    pub(super) length: u32,
}

/// The registers of a file.
#[derive(Debug, Default)]
pub(super) struct Bank {
    positions: Vec<VariableLocation>,
    pub(super) arrays: Vec<Array>,
}

/// First and last register that an index may address.
pub(super) type Bounds = (i32, i32);

impl Bank {
    pub(super) fn position(&self, index: i32) -> VariableLocation {
        usize::try_from(index).ok().and_then(|index| self.positions.get(index)).copied().unwrap_or_default()
    }

    fn set(&mut self, index: usize, position: VariableLocation) {
        if self.positions.len() <= index {
            self.positions.resize(index + 1, VariableLocation::Nowhere);
        }
        self.positions[index] = position;
    }

    /// Returns the array that holds a register.
    pub(super) fn array_at(&self, index: i32) -> Option<Array> {
        match self.position(index) {
            VariableLocation::Element(array, _) => self.arrays.get(array).copied(),
            VariableLocation::Nowhere | VariableLocation::Single(_) => None,
        }
    }
}

/// The state of a conversion that is shared by all functions.
pub(super) struct Context<'s> {
    pub(super) shader: &'s Shader,
    pub(super) options: &'s ToIrOptions,
    pub(super) structure: Structure,
    pub(super) usage: Usage,
    pub(super) ir: IrShader,
    pub(super) subroutines: HashMap<u32, Function>,
    /// Registers of each declared array, over all declarations with its number.
    pub(super) array_bounds: HashMap<(File, u16), Bounds>,
    /// First and last declared register of each file.
    pub(super) file_bounds: HashMap<File, Bounds>,
    pub(super) temporaries: Bank,
    /// Shadows of the outputs.
    pub(super) outputs: Bank,
    pub(super) address: HashMap<(i32, u8), Single>,
    pub(super) input_file: IoFile,
    pub(super) output_file: IoFile,
    /// Not zero once a subroutine has ended the shader; none if none can.
    pub(super) ended: Option<Single>,
    /// An array of all immediates, for indirect accesses.
    pub(super) immediate_array: Option<Array>,
    pub(super) resources: super::textures::ResourceVariables,
    /// Declarations of files `SV` and `SVIEW` by register.
    pub(super) by_register: HashMap<(File, i32), usize>,
    /// `LEGACY_MATH_RULES`.
    pub(super) legacy_math: bool,
    pub(super) vec4: Type,
}

/// Returns the first and last register of a declaration.
pub(super) fn range(declaration: &Declaration) -> Bounds {
    (i32::from(declaration.first), i32::from(declaration.last))
}

/// Joins the overlapping parts of `ranges`; ascending.
fn join(mut ranges: Vec<Bounds>) -> Vec<Bounds> {
    ranges.sort_unstable();
    let mut joined: Vec<Bounds> = Vec::new();
    for (first, last) in ranges {
        match joined.last_mut() {
            Some(open) if first <= open.1 => open.1 = open.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    joined
}

impl<'s> Context<'s> {
    pub(super) fn new(shader: &'s Shader, options: &'s ToIrOptions, structure: Structure, usage: Usage) -> Context<'s> {
        let mut ir = IrShader::new(stage_of(shader.processor));
        let vec4 = ir.types.vector(ScalarType::Float, 4);
        let mut array_bounds = HashMap::new();
        let mut file_bounds = HashMap::new();
        let mut by_register = HashMap::new();
        for (number, declaration) in shader.declarations.iter().enumerate() {
            let (first, last) = range(declaration);
            if last < first {
                continue;
            }
            let whole: &mut Bounds = file_bounds.entry(declaration.file).or_insert((first, last));
            *whole = (whole.0.min(first), whole.1.max(last));
            if let Some(array) = declaration.array() {
                let bounds: &mut Bounds = array_bounds.entry((declaration.file, array)).or_insert((first, last));
                *bounds = (bounds.0.min(first), bounds.1.max(last));
            }
            if matches!(declaration.file, File::SystemValue | File::SamplerView | File::Image) {
                for register in first..=last {
                    by_register.entry((declaration.file, register)).or_insert(number);
                }
            }
        }
        Context {
            shader,
            options,
            structure,
            usage,
            ir,
            subroutines: HashMap::new(),
            array_bounds,
            file_bounds,
            temporaries: Bank::default(),
            outputs: Bank::default(),
            address: HashMap::new(),
            input_file: IoFile::new(File::Input),
            output_file: IoFile::new(File::Output),
            ended: None,
            immediate_array: None,
            resources: super::textures::ResourceVariables::default(),
            by_register,
            legacy_math: shader.property(PropertyName::LegacyMathRules).is_some_and(|value| value != 0),
            vec4,
        }
    }

    /// Returns the declaration that covers a register of files `SV`, `SVIEW`, `IMAGE`.
    pub(super) fn declaration_of(&self, file: File, register: i32) -> Option<&'s Declaration> {
        self.by_register.get(&(file, register)).and_then(|&number| self.shader.declarations.get(number))
    }

    /// Returns the registers that an indirect access with this array number may address.
    pub(super) fn bounds(&self, file: File, array: u16) -> Option<Bounds> {
        self.array_bounds.get(&(file, array)).or_else(|| self.file_bounds.get(&file)).copied()
    }

    /// Returns the registers of `TEMP`, or the shadows of the outputs.
    pub(super) fn bank(&self, file: File) -> &Bank {
        if file == File::Output { &self.outputs } else { &self.temporaries }
    }

    /// Creates a `shader_temp` array of vec4s.
    pub(super) fn array_variable(&mut self, name: String, (first, last): Bounds) -> Array {
        let length = (last - first) as u32 + 1;
        let ty = self.ir.types.array(self.vec4, length);
        let variable = self.ir.add_variable(VariableData::new(name, ty, VariableModes::SHADER_TEMP));
        Array { variable, ty, first, length }
    }
}

impl Translator<'_, '_> {
    /// Creates the registers and variables that hold the state of the shader.
    pub(super) fn declare_registers(&mut self) {
        self.declare_temporaries();
        self.declare_address_registers();
        if self.context.shader.processor != Processor::TessControl {
            self.declare_shadows();
        }
        if self.context.usage.any_indirect(File::Immediate) && !self.context.shader.immediates.is_empty() {
            self.fill_immediate_array();
        }
        if self.context.usage.ends_in_calls {
            self.context.ended = Some(self.single(1, || "ended".to_owned()));
        }
        self.end_of_top();
    }

    /// Creates storage for a vector, initially zero.
    fn single(&mut self, components: u8, name: impl FnOnce() -> String) -> Single {
        if self.context.usage.calls {
            let ty = self.context.ir.types.vector(ScalarType::Float, components);
            let data = VariableData::new(name(), ty, VariableModes::SHADER_TEMP);
            return Single::Variable(self.context.ir.add_variable(data), ty, components);
        }
        Single::Register(self.register(Shape::new(components, 32)))
    }

    /// Declares a register at the top of the function.
    fn register(&mut self, shape: Shape) -> Def {
        let indices = [
            (IndexKind::NumComponents, i32::from(shape.num_components)),
            (IndexKind::NumArrayElems, 0),
            (IndexKind::BitSize, i32::from(shape.bit_size)),
            (IndexKind::Divergent, 1),
        ];
        self.b.intrinsic_def(IntrinsicOp::DeclReg, &[], &indices, Shape::new(1, 32))
    }

    fn declare_temporaries(&mut self) {
        let ranges: Vec<(Bounds, u16)> = self
            .context
            .shader
            .declarations
            .iter()
            .filter(|declaration| declaration.file == File::Temporary && declaration.first <= declaration.last)
            .map(|declaration| (range(declaration), declaration.array().unwrap_or(0)))
            .collect();
        let whole = self.context.usage.indirect.iter().any(|&(file, array)| {
            file == File::Temporary && !self.context.array_bounds.contains_key(&(File::Temporary, array))
        });
        let mut bank = Bank::default();
        if whole {
            if let Some(&bounds) = self.context.file_bounds.get(&File::Temporary) {
                bank.arrays.push(self.context.array_variable("temps".into(), bounds));
            }
        } else {
            let mut arrays: Vec<(Bounds, u16)> = self
                .context
                .array_bounds
                .iter()
                .filter(|((file, _), _)| *file == File::Temporary)
                .map(|(&(_, id), &bounds)| (bounds, id))
                .collect();
            arrays.sort_unstable();
            for bounds in join(arrays.iter().map(|&(bounds, _)| bounds).collect()) {
                let id = arrays.iter().find(|(own, _)| own.0 == bounds.0).map_or(0, |&(_, id)| id);
                bank.arrays.push(self.context.array_variable(format!("arr_{id}"), bounds));
            }
        }
        // Declared registers that are named by an instruction and not in an array, ascending.
        let mut plain: Vec<i32> = Vec::new();
        let mut next_unseen = 0;
        for (first, last) in join(ranges.iter().map(|&(bounds, _)| bounds).collect()) {
            for index in first.max(next_unseen)..=last {
                plain.push(index);
            }
            next_unseen = next_unseen.max(last + 1);
        }
        let mut array_of = bank.arrays.clone().into_iter().enumerate().peekable();
        for index in plain {
            while array_of.next_if(|(_, array)| array.first + (array.length as i32) <= index).is_some() {}
            let position = match array_of.peek() {
                Some(&(number, array)) if array.first <= index => {
                    VariableLocation::Element(number, (index - array.first) as u32)
                }
                _ if self.context.usage.temporaries.get(index as usize).is_some_and(|used| *used) => {
                    VariableLocation::Single(self.single(4, || format!("temp_{index}")))
                }
                _ => continue,
            };
            bank.set(index as usize, position);
        }
        self.context.temporaries = bank;
    }

    fn declare_address_registers(&mut self) {
        let used: Vec<(i32, u8)> = self.context.usage.address.iter().copied().collect();
        let Some(&(first, last)) = self.context.file_bounds.get(&File::Address) else { return };
        for (index, component) in used {
            if (first..=last).contains(&index) {
                let single =
                    self.single(1, || format!("addr_{index}_{}", ["x", "y", "z", "w"][usize::from(component)]));
                self.context.address.insert((index, component), single);
            }
        }
    }

    fn declare_shadows(&mut self) {
        let mut declared: Vec<Bounds> = Vec::new();
        for declaration in self.context.shader.declarations.iter().filter(|d| d.file == File::Output) {
            declared.push(range(declaration));
        }
        let mut bank = Bank::default();
        let mut ranges: Vec<Bounds> = Vec::new();
        let accesses: Vec<u16> = self
            .context
            .usage
            .indirect
            .iter()
            .filter(|&&(file, _)| file == File::Output)
            .map(|&(_, array)| array)
            .collect();
        ranges.extend(accesses.iter().filter_map(|&array| self.context.bounds(File::Output, array)));
        for bounds in join(ranges) {
            bank.arrays.push(self.context.array_variable(format!("outputs_{}", bounds.0), bounds));
        }
        let arrays = bank.arrays.clone();
        for (first, last) in join(declared) {
            for index in first..=last {
                let element = arrays.iter().enumerate().find_map(|(number, array)| {
                    let element = u32::try_from(index - array.first).ok()?;
                    (element < array.length).then_some(VariableLocation::Element(number, element))
                });
                let used = self.context.usage.outputs.get(index as usize).is_some_and(|used| *used);
                let position = match element {
                    Some(position) => position,
                    None if used => VariableLocation::Single(self.single(4, || format!("shadow_{index}"))),
                    None => continue,
                };
                bank.set(index as usize, position);
            }
        }
        self.context.outputs = bank;
    }

    fn fill_immediate_array(&mut self) {
        let last = self.context.shader.immediates.len() as i32 - 1;
        let array = self.context.array_variable("immediates".into(), (0, last));
        for element in 0..array.length {
            let value = self.immediate(element as i32);
            self.store_element(&array, element, value, 0xf);
        }
        self.context.immediate_array = Some(array);
    }

    /// Reads a whole register or variable.
    pub(super) fn load_single(&mut self, single: Single) -> Def {
        match single {
            Single::Register(handle) => self.b.load_reg(handle, 0),
            Single::Variable(variable, ty, components) => {
                let deref = self.b.deref_var(variable, VariableModes::SHADER_TEMP, ty);
                self.b.load_deref(deref, Shape::new(components, 32))
            }
        }
    }

    /// Writes components of a register or variable; `value` has its full width.
    pub(super) fn store_single(&mut self, single: Single, value: Def, mask: u8) {
        match single {
            Single::Register(handle) => {
                self.b.store_reg(value, handle, 0, u32::from(mask));
            }
            Single::Variable(variable, ty, _) => {
                let deref = self.b.deref_var(variable, VariableModes::SHADER_TEMP, ty);
                self.b.store_deref(deref, value, u32::from(mask));
            }
        }
    }

    /// Returns a deref of an element; the index is relative to the start of the array.
    pub(super) fn element_deref(&mut self, array: &Array, index: Def) -> Def {
        let parent = self.b.deref_var(array.variable, VariableModes::SHADER_TEMP, array.ty);
        let vec4 = self.context.vec4;
        self.b.deref_array(parent, index, vec4)
    }

    pub(super) fn load_element(&mut self, array: &Array, element: u32) -> Def {
        let index = self.constant(element);
        let deref = self.element_deref(array, index);
        self.b.load_deref(deref, Shape::new(4, 32))
    }

    pub(super) fn store_element(&mut self, array: &Array, element: u32, value: Def, mask: u8) {
        let index = self.constant(element);
        let deref = self.element_deref(array, index);
        self.b.store_deref(deref, value, u32::from(mask));
    }

    /// Reads a register of a bank, or returns none if it does not exist.
    pub(super) fn load_register(&mut self, file: File, index: i32) -> Option<Def> {
        let bank = self.context.bank(file);
        match bank.position(index) {
            VariableLocation::Nowhere => None,
            VariableLocation::Single(single) => Some(self.load_single(single)),
            VariableLocation::Element(array, element) => {
                let array = *bank.arrays.get(array)?;
                Some(self.load_element(&array, element))
            }
        }
    }

    /// Writes components of a register of a bank, if it exists. `value` returns the vec4.
    pub(super) fn store_register(&mut self, file: File, index: i32, mask: u8, value: impl FnOnce(&mut Self) -> Def) {
        let bank = self.context.bank(file);
        match bank.position(index) {
            VariableLocation::Nowhere => {}
            VariableLocation::Single(single) => {
                let value = value(self);
                self.store_single(single, value, mask);
            }
            VariableLocation::Element(array, element) => {
                let Some(array) = bank.arrays.get(array).copied() else { return };
                let value = value(self);
                self.store_element(&array, element, value, mask);
            }
        }
    }

    /// Returns the index of an indirect access within an array: `base` (a register number) plus the run-time part,
    /// relative to element 0. An index outside `bounds` is mapped to one outside the array.
    pub(super) fn element_index(&mut self, first: i32, length: u32, base: i32, offset: Def, bounds: Bounds) -> Def {
        let own = (first, first + length as i32 - 1);
        let index = self.add_constant(offset, base.wrapping_sub(first));
        if bounds.0 <= own.0 && bounds.1 >= own.1 {
            return index;
        }
        let low = self.constant(bounds.0.wrapping_sub(first) as u32);
        let count = self.constant((bounds.1 - bounds.0) as u32 + 1);
        let outside = self.constant(u32::MAX);
        self.with_flags(AluFlags::NONE, |t| {
            let relative = t.b.alu(AluOp::Isub, &[index, low]);
            let inside = t.b.alu(AluOp::Ult, &[relative, count]);
            t.b.alu(AluOp::Bcsel, &[inside, index, outside])
        })
    }
}
