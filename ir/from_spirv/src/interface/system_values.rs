//! Code for built-in inputs.

use smallvec::SmallVec;
use spirv::BuiltIn;
use tgsi_environment::SystemValue;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::intrinsics::indices::AccessFlags;

use crate::emit::Emitter;
use crate::emit::pointer::Pointer;
use crate::emit::storage::System;
use crate::error::SpirvError;

impl Emitter<'_, '_, '_> {
    /// The vectors of a built-in input: one.
    ///
    /// # Errors
    /// No intrinsic loads it.
    pub(crate) fn system_value(&mut self, system: System, pointer: &Pointer) -> Result<SmallVec<[Def; 4]>, SpirvError> {
        let value = match system {
            System::Zero => {
                let shape = self.context.module.types.shape(pointer.ty);
                self.constant(shape.bit_size, &[0; 4][..usize::from(shape.num_components.min(4))])
            }
            System::Ones => self.constant(32, &[u32::MAX.into()]),
            System::Words(value, first) => {
                let words = self.load_system_value(value)?;
                if value == SystemValue::UserDataAmd {
                    // The module does not state the number; the register of TGSI has four.
                    self.context.shader.info.cs.user_data_components_amd = 4;
                }
                let parts = [0, 1, 2, 3].map(|word| AluSrc::component(words, first.saturating_add(word)));
                self.b.vec(&parts)
            }
            // It changes by demotion, which loads that are not volatile need not see.
            System::Value(SystemValue::HelperInvocation) if pointer.access.contains(AccessFlags::VOLATILE) => {
                self.b.intrinsic_def(IntrinsicOp::IsHelperInvocation, &[], &[], Shape::new(1, 1))
            }
            System::Value(value) => self.load_system_value(value)?,
            System::BuiltIn(number) => match BuiltIn::from_u32(number) {
                Some(built_in) => self.computed(built_in)?,
                None => return Err(SpirvError::BuiltIn { name: number.to_string() }),
            },
        };
        Ok(SmallVec::from_slice(&[value]))
    }

    fn load_system_value(&mut self, value: SystemValue) -> Result<Def, SpirvError> {
        let op = IntrinsicOp::loading(value).ok_or_else(|| SpirvError::BuiltIn { name: value.name().to_owned() })?;
        Ok(self.b.intrinsic_def(op, &[], &[], Shape::new(value.num_components(), value.bit_size())))
    }

    /// The value of a built-in that is not a system value.
    fn computed(&mut self, built_in: BuiltIn) -> Result<Def, SpirvError> {
        let size = self.context.shader.info.workgroup_size.map(u64::from);
        let word = Shape::new(1, 32);
        Ok(match built_in {
            BuiltIn::InstanceIndex => {
                let number = self.load_system_value(SystemValue::InstanceId)?;
                let base = self.load_system_value(SystemValue::BaseInstance)?;
                self.b.alu(AluOp::Iadd, &[number, base])
            }
            BuiltIn::WorkgroupSize => self.constant(32, &size),
            BuiltIn::GlobalInvocationId => {
                let group = self.load_system_value(SystemValue::WorkgroupId)?;
                let local = self.load_system_value(SystemValue::LocalInvocationId)?;
                let size = self.constant(32, &size);
                let first = self.b.alu(AluOp::Imul, &[group, size]);
                self.b.alu(AluOp::Iadd, &[first, local])
            }
            BuiltIn::LocalInvocationIndex => {
                // x + width * (y + height * z), without the components that are 0.
                let local = self.load_system_value(SystemValue::LocalInvocationId)?;
                let mut sum = None;
                for component in [2u8, 1, 0] {
                    let length = size[usize::from(component)];
                    if length == 1 {
                        continue;
                    }
                    let part = self.b.channel(local, component);
                    sum = Some(match sum {
                        Some(sum) => {
                            let length = self.constant(32, &[length]);
                            let rest = self.b.alu(AluOp::Imul, &[sum, length]);
                            self.b.alu(AluOp::Iadd, &[rest, part])
                        }
                        None => part,
                    });
                }
                sum.unwrap_or_else(|| self.constant(32, &[0]))
            }
            BuiltIn::NumSubgroups => self.b.intrinsic_def(IntrinsicOp::LoadNumSubgroups, &[], &[], word),
            BuiltIn::SubgroupId => self.b.intrinsic_def(IntrinsicOp::LoadSubgroupId, &[], &[], word),
            BuiltIn::SubgroupEqMask => self.mask(SystemValue::SubgroupEqMask)?,
            BuiltIn::SubgroupGeMask => self.mask(SystemValue::SubgroupGeMask)?,
            BuiltIn::SubgroupGtMask => self.mask(SystemValue::SubgroupGtMask)?,
            BuiltIn::SubgroupLeMask => self.mask(SystemValue::SubgroupLeMask)?,
            BuiltIn::SubgroupLtMask => self.mask(SystemValue::SubgroupLtMask)?,
            _ => return Err(SpirvError::BuiltIn { name: format!("{built_in:?}") }),
        })
    }

    /// A mask of 64 invocations as four words.
    fn mask(&mut self, value: SystemValue) -> Result<Def, SpirvError> {
        let mask = self.load_system_value(value)?;
        let words = self.b.alu(AluOp::Unpack642x32, &[mask]);
        let zero = AluSrc::component(self.constant(32, &[0]), 0);
        Ok(self.b.vec(&[AluSrc::component(words, 0), AluSrc::component(words, 1), zero, zero]))
    }
}
