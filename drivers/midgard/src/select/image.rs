//! Images: entries of the table of attributes.
//!
//! Coordinates have 16 bits each, in x and y of an operand register: x, y and z with the layer after the last
//! dimension, and the sample in w. Coordinates beyond these bits become the first or the last number that they have,
//! which is beyond the size of any image. A run-time number of the image is in z.

use tgsi_environment::SamplerDim;
use tgsi_ir::alu::{AluType, BaseType};
use tgsi_ir::intrinsics::indices::AtomicOp;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Inst, InstData};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::Selector;
use super::memory::{Address, operand_register};
use super::operands::{composed, lane};
use super::resources::{Element, Number};
use crate::MidgardError;
use crate::isa::Register;
use crate::isa::alu::AluOp;
use crate::isa::load_store::{LoadStore, LoadStoreOp, Operand};
use crate::machine::{OPERANDS, Op, Operation};
use crate::program::{SystemRow, Texture};

impl Selector<'_> {
    /// Selects accesses to images. Returns whether the intrinsic is one.
    pub(super) fn select_image(&mut self, inst: Inst, op: IntrinsicOp) -> Result<bool, MidgardError> {
        use IntrinsicOp as I;
        match op {
            I::ImageDerefLoad | I::ImageLoad => self.select_image_load(inst)?,
            I::ImageDerefStore | I::ImageStore => self.select_image_store(inst)?,
            I::ImageDerefAtomic | I::ImageAtomic | I::ImageDerefAtomicSwap | I::ImageAtomicSwap => {
                self.select_image_atomic(inst)?;
            }
            I::ImageDerefSize | I::ImageSize => self.select_image_row(inst, [0, 1, 2, 3])?,
            I::ImageDerefSamples | I::ImageSamples => self.select_image_row(inst, [3; 4])?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The number of an image. The images that it may be are added to the table.
    fn image(&mut self, inst: Inst) -> Result<Number, MidgardError> {
        let body = self.body;
        let dim = SamplerDim::from_i32(body.index(inst, IndexKind::ImageDim)).unwrap_or(SamplerDim::Dim2D);
        let is_array = body.index(inst, IndexKind::ImageArray) != 0;
        let source = body.source(inst, 0);
        let deref = body.src_def(source);
        let element = match *body.inst(body.def_inst(deref)) {
            InstData::Deref { .. } => self.element_at(inst, deref, "images")?,
            _ => {
                let number = self.constant_of(source).ok_or_else(|| self.lacks(inst, "bindless images"))?;
                Element::single(number.wrapping_add(body.index(inst, IndexKind::RangeBase) as u32))
            }
        };
        for number in element.numbers().take_while(|&number| number < MAX_IMAGES) {
            if !self.images.iter().any(|known| known.number == number) {
                self.images.push(Texture { number, dimensions: dim.into(), is_array });
            }
        }
        match self.number_of(element) {
            Number::Constant(number) if number >= MAX_IMAGES => Err(self.lacks(inst, &format!("image {number}"))),
            number => Ok(number),
        }
    }

    /// The number after that of the last image.
    fn images_end(&self) -> u32 {
        self.shader.info.num_images.min(MAX_IMAGES - 1)
    }

    /// Copies components of the row of system values of an image.
    fn select_image_row(&mut self, inst: Inst, components: [u8; 4]) -> Result<(), MidgardError> {
        let Some(def) = self.body.inst_def(inst) else { return Ok(()) };
        let number = self.image(inst)?;
        let row = self.element_row(number, self.images_end(), SystemRow::ImageSize);
        let target = self.target(def);
        self.copy(target, composed(row, components));
        Ok(())
    }

    /// The fields and operands of an access to an image.
    fn image_access(&mut self, inst: Inst, number: u8) -> Result<Address, MidgardError> {
        let body = self.body;
        let image = self.image(inst)?;
        let dim = SamplerDim::from_i32(body.index(inst, IndexKind::ImageDim)).unwrap_or(SamplerDim::Dim2D);
        let is_array = body.index(inst, IndexKind::ImageArray) != 0;
        let coordinate = self.source_of(body.source(inst, 1));
        let has_samples = matches!(dim, SamplerDim::Ms | SamplerDim::SubpassMs);
        let count = (dim.num_coords() + u8::from(is_array)).min(3);
        let coordinates = self.new_temp();
        let to = |mask| Destination::new(File::Temporary, coordinates.index, mask);
        let sample = if has_samples { 0b1000 } else { 0 };
        let mask = (1 << count) - 1;
        let (least, most) = (self.word(i16::MIN as i32 as u32), self.word(i16::MAX as u32));
        let limited = self.computed(AluOp::Imin, mask, [coordinate, most]);
        self.emit(AluOp::Imax, to(mask), [limited, least]);
        if has_samples {
            let value = self.source_of(body.source(inst, 2));
            self.emit(Op::Mov, to(sample), [lane(value, 0)]);
        }
        let (low, half) = (self.word(0xffff), self.word(16));
        let stated = mask | sample;
        for word in 0..2u8 {
            let first = word * 2;
            let [has_lower, has_upper] = [first, first + 1].map(|c| stated >> c & 1 != 0);
            let [lower, upper] = [first, first + 1].map(|c| lane(coordinates, c));
            let lower = has_lower.then(|| self.computed(AluOp::Iand, 1, [lower, low]));
            let upper = has_upper.then(|| self.computed(AluOp::Ishl, 1, [upper, half]));
            let value = match (lower, upper) {
                (Some(lower), Some(upper)) => self.computed(AluOp::Ior, 1, [lower, upper]),
                (Some(half), None) | (None, Some(half)) => half,
                (None, None) => self.word(0),
            };
            self.set_operand(number, 1 << word, lane(value, 0));
        }
        let mut access = LoadStore {
            is_wide: true,
            argument: Operand { register: operand_register(number), component: 0 },
            ..LoadStore::new(LoadStoreOp::LdImageU32, Register::UNUSED)
        };
        let register = Source::new(File::Special, i32::from(OPERANDS + number));
        let mut sources = vec![register];
        match image {
            Number::Constant(image) => access.offset = (image as i32) << 9,
            Number::Dynamic(image) => {
                self.set_operand(number, 0b0100, image);
                access.index = Operand { register: operand_register(number), component: 2 };
                sources.push(composed(register, [2; 4]));
            }
        }
        Ok(Address { access, sources })
    }

    fn select_image_load(&mut self, inst: Inst) -> Result<(), MidgardError> {
        let Some(def) = self.body.inst_def(inst) else { return Ok(()) };
        let target = self.target(def);
        let op = match base_type(self.body.index(inst, IndexKind::DestType)) {
            BaseType::Float => LoadStoreOp::LdImageF32,
            BaseType::Int => LoadStoreOp::LdImageS32,
            _ => LoadStoreOp::LdImageU32,
        };
        let number = self.next_operand();
        let Address { access, sources } = self.image_access(inst, number)?;
        let operation = self.operation(Operation::LoadStore(LoadStore { op, ..access }));
        self.load(target, operation, &sources);
        Ok(())
    }

    fn select_image_store(&mut self, inst: Inst) -> Result<(), MidgardError> {
        let value = self.source_of(self.body.source(inst, 3));
        let op = match base_type(self.body.index(inst, IndexKind::SrcType)) {
            BaseType::Float => LoadStoreOp::StImageF32,
            BaseType::Int => LoadStoreOp::StImageS32,
            _ => LoadStoreOp::StImageU32,
        };
        let number = self.next_operand();
        let Address { access, sources } = self.image_access(inst, number)?;
        let value = self.set_operand(number ^ 1, 15, value);
        let register = Register::new(number ^ 1).unwrap_or(Register::UNUSED);
        let operation = self.operation(Operation::LoadStore(LoadStore { op, register, ..access }));
        self.push(Instruction::new(Op::Store, None, [operation, value].into_iter().chain(sources)));
        Ok(())
    }

    /// An atomic operation at the address of a texel.
    fn select_image_atomic(&mut self, inst: Inst) -> Result<(), MidgardError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let target = self.target(def);
        let op = self.atomic_op(inst, AtomicOp::from_i32(body.index(inst, IndexKind::AtomicOp)))?;
        let data = self.operands_from(inst, 3);
        let number = self.next_operand();
        let Address { access, sources } = self.image_access(inst, number)?;
        let operation = self.operation(Operation::LoadStore(LoadStore { op: LoadStoreOp::LeaImage, ..access }));
        let number = number ^ 1;
        let register = i32::from(OPERANDS + number);
        self.load(Destination::new(File::Special, register, 0b0011), operation, &sources);
        let access = LoadStore {
            is_wide: true,
            argument: Operand { register: operand_register(number), component: 0 },
            ..LoadStore::new(LoadStoreOp::Lea, Register::UNUSED)
        };
        let address = Address { access, sources: vec![Source::new(File::Special, register)] };
        self.atomic(op, target, &data, number, address);
        Ok(())
    }
}

/// Numbers of images in instructions.
const MAX_IMAGES: u32 = 255;

fn base_type(index: i32) -> BaseType {
    AluType::from_i32(index).base
}
