//! Structs of fixed-function state.
//!
//! Drivers provide several fields in one register of four floats. The IR variable of such state is an array of these
//! registers, and a field is some components of one. Copies of a whole struct are ordinary structs.

use tgsi_arithmetic::Operand;
use tgsi_ir::Swizzle;
use tgsi_ir::body::Shape;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::{Def, Type as IrType};
use tgsi_ir::types::TypeData as IrTypeData;

use super::places::{Place, Value};
use super::{Context, Emitter, index};
use crate::builtins::variables::Role;
use crate::builtins::variables::state::{self, StateStruct};
use crate::program::{Storage, VariableId};
use crate::types::{TypeData, TypeId};

impl Context<'_> {
    /// The struct of state that a type is.
    fn state_struct(&self, ty: TypeId) -> Option<&'static StateStruct> {
        let TypeData::Struct(id) = self.program.types.get(ty) else { return None };
        let name = self.program.types.struct_type(id)?.name?;
        state::state_struct(self.interner.spelling(name))
    }

    /// Whether a variable is state.
    pub(super) fn is_state(&self, id: VariableId) -> bool {
        let version = self.program.version;
        matches!(self.program.variable(id).storage, Storage::Builtin(variable) if variable.role(version) == Role::State)
    }

    /// The IR type of a variable of state.
    pub(super) fn state_type(&mut self, ty: TypeId) -> IrType {
        if let Some(data) = self.state_struct(ty) {
            let element = self.ir_type(TypeId::VEC4);
            return self.shader.types.intern(IrTypeData::Array { element, length: data.registers.into(), stride: 0 });
        }
        match self.program.types.get(ty) {
            TypeData::Array { element, length } if self.state_struct(element).is_some() => {
                let element = self.state_type(element);
                self.shader.types.intern(IrTypeData::Array { element, length: length.unwrap_or(1), stride: 0 })
            }
            _ => self.ir_type(ty),
        }
    }

    /// Whether state of a type is in registers that fields share.
    pub(super) fn is_packed(&self, ty: TypeId) -> bool {
        self.state_struct(self.program.types.without_arrays(ty)).is_some()
    }
}

impl Emitter<'_, '_, '_> {
    /// An element of an array of structs of state.
    pub(super) fn state_element(&mut self, deref: Def, number: Def, ty: TypeId) -> Value {
        let ir_type = self.context.state_type(ty);
        Value::State(self.b.deref_array(deref, number, ir_type), ty)
    }

    /// A field of a struct of state of type `ty`.
    pub(super) fn state_field(&mut self, deref: Def, ty: TypeId, field: u32) -> Value {
        let field = self.context.state_struct(ty).and_then(|data| data.fields.get(field as usize));
        let Some(field) = field else { return Value::None };
        let register = index(&mut self.b, field.register.into());
        let vec4 = self.context.ir_type(TypeId::VEC4);
        let deref = self.b.deref_array(deref, register, vec4);
        let loaded = self.b.load_deref(deref, Shape::new(4, 32));
        let components = [0, 1, 2, 3].map(|component| (field.component + component).min(3));
        let value = self.b.mov(AluSrc::new(loaded, Swizzle::new(&components)), field.components);
        Value::Operand(Operand::Vector(value))
    }

    /// The same value, with state copied to memory of the type.
    pub(super) fn unpacked(&mut self, value: Value) -> Value {
        let (from, ty) = match value {
            Value::State(from, ty) => (from, ty),
            Value::Packed(packed) => return self.unpack_scalars(packed),
            value => return value,
        };
        let to = self.temporary_of(ty);
        self.unpack(from, to, ty);
        Value::Memory(to, ty)
    }

    /// Copies state. The types of the language have no structs in structs.
    fn unpack(&mut self, from: Def, to: Def, ty: TypeId) {
        let program = self.context.program;
        if let TypeData::Array { element, length } = program.types.get(ty) {
            for number in 0..length.unwrap_or(0) {
                let number = index(&mut self.b, number);
                if let Value::State(from, _) = self.state_element(from, number, element) {
                    let to = self.element_deref(to, number);
                    self.unpack(from, to, element);
                }
            }
            return;
        }
        for (number, field) in program.types.fields(ty).iter().enumerate() {
            let value = self.state_field(from, ty, number as u32);
            let deref = self.field_deref(to, number as u32);
            self.store(Place::new(deref, field.ty), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use tgsi_ir::shader::ShaderStage;

    use crate::options::GlslOptions;

    /// Name, first register and number of registers of the uniforms of a vertex shader.
    fn registers(body: &str) -> Vec<(String, u32, u32)> {
        let text = format!("uniform vec4 u; uniform int n;\nvoid main() {{ gl_Position = u; {body} }}\n");
        let compiled = crate::compile(text.as_bytes(), ShaderStage::Vertex, &GlslOptions::default());
        let module = compiled.module.unwrap_or_else(|| panic!("{:?}", compiled.findings));
        let uniforms = module.interface.uniforms;
        uniforms.into_iter().map(|uniform| (uniform.name, uniform.register, uniform.num_registers)).collect()
    }

    #[test]
    fn fields_share_registers() {
        let used = registers("gl_FrontColor = gl_ModelViewMatrix[0] + gl_Fog.scale + gl_LightSource[1].spotCutoff;");
        let expected = [("u", 0, 1), ("gl_Fog", 1, 2), ("gl_LightSource", 3, 16), ("gl_ModelViewMatrix", 19, 4)];
        assert_eq!(used, expected.map(|(name, register, count)| (name.to_owned(), register, count)));
    }

    #[test]
    fn run_time_indices_keep_all_elements() {
        let used = registers("gl_FrontColor = gl_LightSource[n].diffuse;");
        let expected = [("u", 0, 1), ("n", 1, 1), ("gl_LightSource", 2, 64)];
        assert_eq!(used, expected.map(|(name, register, count)| (name.to_owned(), register, count)));
    }

    #[test]
    fn structs_can_be_copied() {
        let used = registers("gl_FogParameters fog = gl_Fog; gl_FrontColor = fog.color * fog.end;");
        assert_eq!(used.last(), Some(&("gl_Fog".to_owned(), 1, 2)));
    }
}
