//! Fixed-function state: its structs, and its values and registers.
//!
//! State is uniform data in registers of four floats. A field of a struct is in some components of one register; fields
//! that drivers provide together share a register. A matrix has one register for each column.

use super::{Role, Row};
use crate::builtins::stages::Stages;
use crate::extension::Extension as E;
use crate::symbol::Interner;
use crate::token::TokenRange;
use crate::types::{Field, StructType, TypeId, Types};
use crate::version::Since;

use super::BuiltinVariable;

/// A field of a struct of state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct StateField {
    /// Name.
    pub(crate) name: &'static str,
    /// Number of float components.
    pub(crate) components: u8,
    /// Register in the struct.
    pub(crate) register: u8,
    /// First component in the register.
    pub(crate) component: u8,
    /// The initial value.
    pub(crate) initial: [f32; 4],
}

/// A struct of state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct StateStruct {
    /// Name.
    pub(crate) name: &'static str,
    /// Fields.
    pub(crate) fields: &'static [StateField],
    /// Number of registers.
    pub(crate) registers: u8,
}

const fn field(name: &'static str, components: u8, register: u8, component: u8, initial: [f32; 4]) -> StateField {
    StateField { name, components, register, component, initial }
}

const ZERO: [f32; 4] = [0.0; 4];
const ONE: [f32; 4] = [1.0, 0.0, 0.0, 0.0];
const BLACK: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
const WHITE: [f32; 4] = [1.0; 4];

/// All structs.
pub(crate) const STRUCTS: &[StateStruct] = &[
    StateStruct {
        name: "gl_DepthRangeParameters",
        registers: 1,
        fields: &[field("near", 1, 0, 0, ZERO), field("far", 1, 0, 1, ONE), field("diff", 1, 0, 2, ONE)],
    },
    StateStruct {
        name: "gl_PointParameters",
        registers: 2,
        fields: &[
            field("size", 1, 0, 0, ONE),
            field("sizeMin", 1, 0, 1, ZERO),
            field("sizeMax", 1, 0, 2, ONE),
            field("fadeThresholdSize", 1, 0, 3, ONE),
            field("distanceConstantAttenuation", 1, 1, 0, ONE),
            field("distanceLinearAttenuation", 1, 1, 1, ZERO),
            field("distanceQuadraticAttenuation", 1, 1, 2, ZERO),
        ],
    },
    StateStruct {
        name: "gl_MaterialParameters",
        registers: 5,
        fields: &[
            field("emission", 4, 0, 0, BLACK),
            field("ambient", 4, 1, 0, [0.2, 0.2, 0.2, 1.0]),
            field("diffuse", 4, 2, 0, [0.8, 0.8, 0.8, 1.0]),
            field("specular", 4, 3, 0, BLACK),
            field("shininess", 1, 4, 0, ZERO),
        ],
    },
    StateStruct {
        name: "gl_LightSourceParameters",
        registers: 8,
        fields: &[
            field("ambient", 4, 0, 0, BLACK),
            field("diffuse", 4, 1, 0, BLACK),
            field("specular", 4, 2, 0, BLACK),
            field("position", 4, 3, 0, [0.0, 0.0, 1.0, 0.0]),
            field("halfVector", 4, 4, 0, [0.0, 0.0, 1.0, 1.0]),
            field("spotDirection", 3, 5, 0, [0.0, 0.0, -1.0, 0.0]),
            field("spotExponent", 1, 6, 3, ZERO),
            field("spotCutoff", 1, 7, 0, [180.0, 0.0, 0.0, 0.0]),
            field("spotCosCutoff", 1, 5, 3, [-1.0, 0.0, 0.0, 0.0]),
            field("constantAttenuation", 1, 6, 0, ONE),
            field("linearAttenuation", 1, 6, 1, ZERO),
            field("quadraticAttenuation", 1, 6, 2, ZERO),
        ],
    },
    StateStruct {
        name: "gl_LightModelParameters",
        registers: 1,
        fields: &[field("ambient", 4, 0, 0, [0.2, 0.2, 0.2, 1.0])],
    },
    StateStruct {
        name: "gl_LightModelProducts",
        registers: 1,
        fields: &[field("sceneColor", 4, 0, 0, [0.04, 0.04, 0.04, 1.0])],
    },
    StateStruct {
        name: "gl_LightProducts",
        registers: 3,
        fields: &[
            field("ambient", 4, 0, 0, BLACK),
            field("diffuse", 4, 1, 0, BLACK),
            field("specular", 4, 2, 0, BLACK),
        ],
    },
    StateStruct {
        name: "gl_FogParameters",
        registers: 2,
        fields: &[
            field("color", 4, 0, 0, ZERO),
            field("density", 1, 1, 0, ONE),
            field("start", 1, 1, 1, ZERO),
            field("end", 1, 1, 2, ONE),
            field("scale", 1, 1, 3, ONE),
        ],
    },
];

const ALL: Stages = Stages::ALL;

const SAMPLES: Since = Since::new(420, 320).or(&[E::ARBSampleShading, E::OESSampleVariables]);

/// State that the compatibility profile has.
const fn fixed(name: &'static str, ty: &'static str) -> Row {
    Row::fixed(name, ty, Role::State, ALL)
}

/// In the order of their registers, which is that of Mesa's drivers.
pub(super) const ROWS: &[Row] = &[
    fixed("gl_Fog", "gl_FogParameters"),
    fixed("gl_ObjectPlaneQ", "f4[gl_MaxTextureCoords]"),
    fixed("gl_ObjectPlaneR", "f4[gl_MaxTextureCoords]"),
    fixed("gl_ObjectPlaneT", "f4[gl_MaxTextureCoords]"),
    fixed("gl_ObjectPlaneS", "f4[gl_MaxTextureCoords]"),
    fixed("gl_EyePlaneQ", "f4[gl_MaxTextureCoords]"),
    fixed("gl_EyePlaneR", "f4[gl_MaxTextureCoords]"),
    fixed("gl_EyePlaneT", "f4[gl_MaxTextureCoords]"),
    fixed("gl_EyePlaneS", "f4[gl_MaxTextureCoords]"),
    fixed("gl_TextureEnvColor", "f4[gl_MaxTextureUnits]"),
    fixed("gl_BackLightProduct", "gl_LightProducts[gl_MaxLights]"),
    fixed("gl_FrontLightProduct", "gl_LightProducts[gl_MaxLights]"),
    fixed("gl_BackLightModelProduct", "gl_LightModelProducts"),
    fixed("gl_FrontLightModelProduct", "gl_LightModelProducts"),
    fixed("gl_LightSource", "gl_LightSourceParameters[gl_MaxLights]"),
    fixed("gl_BackMaterial", "gl_MaterialParameters"),
    fixed("gl_FrontMaterial", "gl_MaterialParameters"),
    fixed("gl_Point", "gl_PointParameters"),
    fixed("gl_ClipPlane", "f4[gl_MaxClipPlanes]"),
    fixed("gl_TextureMatrixInverseTranspose", "m4[gl_MaxTextureCoords]"),
    fixed("gl_TextureMatrixTranspose", "m4[gl_MaxTextureCoords]"),
    fixed("gl_TextureMatrixInverse", "m4[gl_MaxTextureCoords]"),
    fixed("gl_TextureMatrix", "m4[gl_MaxTextureCoords]"),
    fixed("gl_LightModel", "gl_LightModelParameters"),
    fixed("gl_NormalScale", "f"),
    fixed("gl_ModelViewProjectionMatrixInverseTranspose", "m4"),
    fixed("gl_ProjectionMatrixInverseTranspose", "m4"),
    fixed("gl_ModelViewMatrixInverseTranspose", "m4"),
    fixed("gl_ModelViewProjectionMatrixTranspose", "m4"),
    fixed("gl_ProjectionMatrixTranspose", "m4"),
    fixed("gl_ModelViewMatrixTranspose", "m4"),
    fixed("gl_ModelViewProjectionMatrixInverse", "m4"),
    fixed("gl_ProjectionMatrixInverse", "m4"),
    fixed("gl_ModelViewMatrixInverse", "m4"),
    fixed("gl_NormalMatrix", "m3"),
    fixed("gl_ModelViewProjectionMatrix", "m4"),
    fixed("gl_ProjectionMatrix", "m4"),
    fixed("gl_ModelViewMatrix", "m4"),
    Row::new("gl_DepthRange", "gl_DepthRangeParameters", Role::State, Since::ALWAYS, ALL),
    Row::new("gl_NumSamples", "i", Role::State, SAMPLES, ALL),
];

/// The struct with a name.
pub(crate) fn state_struct(name: &str) -> Option<&'static StateStruct> {
    STRUCTS.iter().find(|data| data.name == name)
}

/// The type of a struct of the language; one type in all of a unit.
pub(crate) fn struct_type(name: &str, types: &mut Types, interner: &mut Interner) -> Option<TypeId> {
    let data = state_struct(name)?;
    let name = interner.intern(name);
    if let Some(ty) = types.language_struct(name) {
        return Some(ty);
    }
    let tokens = TokenRange::default();
    let fields = data.fields.iter().map(|field| Field {
        name: interner.intern(field.name),
        ty: TypeId::vector(crate::types::Scalar::Float, field.components),
        precision: None,
        tokens,
    });
    let fields = fields.collect();
    Some(types.add_language_struct(name, StructType { name: Some(name), fields, tokens, block: None }))
}

impl BuiltinVariable {
    /// The struct of state that the variable or its elements are.
    pub(crate) fn state_struct(self) -> Option<&'static StateStruct> {
        state_struct(self.row()?.ty.split('[').next()?)
    }

    /// The number of registers of an element of state, or of all if it is not an array.
    pub(crate) fn state_registers(self) -> u32 {
        match (self.state_struct(), self.row().map_or("", |row| row.ty).split('[').next()) {
            (Some(data), _) => data.registers.into(),
            (None, Some("m4")) => 4,
            (None, Some("m3")) => 3,
            (None, _) => 1,
        }
    }

    /// The initial values of the registers of an element of state, or of all if it is not an array, as in GL.
    pub(crate) fn initial_registers(self, element: u32) -> Vec<[f32; 4]> {
        if let Some(data) = self.state_struct() {
            let mut registers = vec![ZERO; usize::from(data.registers)];
            for field in data.fields {
                let value = self.special(element, field.name).unwrap_or(field.initial);
                let Some(register) = registers.get_mut(usize::from(field.register)) else { continue };
                let components = register.iter_mut().skip(usize::from(field.component));
                for (target, source) in components.zip(value).take(usize::from(field.components)) {
                    *target = source;
                }
            }
            return registers;
        }
        if self.state_registers() == 1 {
            return vec![match self.name() {
                "gl_NormalScale" | "gl_EyePlaneS" | "gl_ObjectPlaneS" => ONE,
                "gl_EyePlaneT" | "gl_ObjectPlaneT" => [0.0, 1.0, 0.0, 0.0],
                // An integer: one sample.
                "gl_NumSamples" => [f32::from_bits(1), 0.0, 0.0, 0.0],
                _ => ZERO,
            }];
        }
        let column = |number: usize| std::array::from_fn(|row| if row == number { 1.0 } else { 0.0 });
        (0..self.state_registers() as usize).map(column).collect()
    }

    /// Values of light 0, which differs from the others.
    fn special(self, element: u32, field: &str) -> Option<[f32; 4]> {
        match (self.name(), element, field) {
            ("gl_LightSource", 0, "diffuse" | "specular") => Some(WHITE),
            ("gl_FrontLightProduct" | "gl_BackLightProduct", 0, "diffuse") => Some([0.8, 0.8, 0.8, 1.0]),
            _ => None,
        }
    }
}
