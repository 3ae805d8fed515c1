//! The changes of linking, in a C struct.

use tgsi_ir::passes::linking::LinkReport;

use crate::sized::SizedStruct;

/// The changes that linking made between a shader and the next.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_link_report {
    /// `sizeof(tgsic_link_report)`, to be set by the caller.
    pub size: usize,
    /// The index of the shader that writes, in the order of the arguments.
    pub producer: u32,
    /// The index of the shader that reads.
    pub consumer: u32,
    /// Components of outputs that are no longer written.
    pub removed: u32,
    /// Components of inputs that became zero, because they are not written.
    pub zeros: u32,
    /// Components of inputs that became constants of the reader.
    pub constants: u32,
    /// Components of inputs that the reader now loads from constant buffers itself.
    pub uniforms: u32,
    /// Components of inputs that are equal to others.
    pub duplicates: u32,
    /// Slots between the stages that were read before linking.
    pub slots_before: u32,
    /// Slots between the stages that are read after linking.
    pub slots_after: u32,
    /// Must not be used.
    pub reserved: u32,
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_link_report {}

impl tgsic_link_report {
    /// Converts the report of a pair of stages.
    pub(crate) fn new(report: &LinkReport, producer: usize, consumer: usize) -> tgsic_link_report {
        tgsic_link_report {
            size: size_of::<tgsic_link_report>(),
            producer: producer as u32,
            consumer: consumer as u32,
            removed: report.removed,
            zeros: report.zeros,
            constants: report.constants,
            uniforms: report.uniforms,
            duplicates: report.duplicates,
            slots_before: report.slots_before,
            slots_after: report.slots_after,
            reserved: 0,
        }
    }
}
