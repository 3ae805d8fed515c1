//! Images: a hash table of stored texels in the harness buffer. Other texels have the values of the analytic images.
//!
//! The key of a texel is its unit, coordinates and sample; it is found by a hash of them, all 32 bits of which are
//! compared. Collisions are resolved by linear probing. The first store claims an empty slot by an atomic exchange.

use tgsi_environment::SamplerDim;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{JumpKind, Shape};
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::AtomicOp;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};

use crate::Replacement;
use crate::code::Code;
use crate::layout::{Header, TEXEL_HASH, TEXEL_KEY, TEXEL_VALUE, TEXEL_WORDS};
use crate::texture::{Unit, unit_path};

/// Returns the hash of a texel's key; never 0.
pub(crate) fn hash(key: [u32; 5]) -> u32 {
    key.into_iter().fold(HASH_START, |hash, word| (hash ^ word).wrapping_mul(HASH_FACTOR).rotate_left(HASH_TURN)).max(1)
}

/// Returns the slot at which the search for a hash starts.
pub(crate) fn first_slot(hash: u32, mask: u32) -> u32 {
    hash >> 7 & mask
}

const HASH_START: u32 = 0x9e37_79b9;
const HASH_FACTOR: u32 = 0x85eb_ca6b;
const HASH_TURN: u32 = 13;

/// The key of a texel: unit, coordinates, sample.
type Key = [Def; 5];

impl Code<'_> {
    fn hash(&mut self, key: Key) -> Def {
        let mut hash = self.word(HASH_START);
        let (left, right) = (self.word(HASH_TURN), self.word(32 - HASH_TURN));
        for word in key {
            let mixed = self.op2(AluOp::Ixor, hash, word);
            let product = self.mul_word(mixed, HASH_FACTOR);
            let (high, low) = (self.op2(AluOp::Ishl, product, left), self.op2(AluOp::Ushr, product, right));
            hash = self.op2(AluOp::Ior, high, low);
        }
        let one = self.word(1);
        self.op2(AluOp::Umax, hash, one)
    }

    /// Searches for a texel; returns the address of its slot, and the previous hash there. `claim` takes an empty slot.
    /// If the table is full, the address is one without effect.
    fn find(&mut self, hash: Def, claim: bool) -> (Def, Def) {
        let mask = self.header(Header::TexelMask);
        let seven = self.word(7);
        let start = self.op2(AluOp::Ushr, hash, seven);
        let start = self.op2(AluOp::Iand, start, mask);
        let (zero, one) = (self.word(0), self.word(1));
        let before = self.b.block();
        let id = self.b.push_loop();
        let slot = self.b.phi(Shape::new(1, 32), &[(before, start)]);
        let tried = self.b.phi(Shape::new(1, 32), &[(before, zero)]);
        let bytes = self.mul_word(slot, 4 * TEXEL_WORDS);
        let table = self.header(Header::Texels);
        let address = self.add(table, bytes);
        let address = self.add_word(address, 4 * TEXEL_HASH);
        let full = self.op2(AluOp::Ult, mask, tried);
        let room = self.op1(AluOp::Inot, full);
        let address = if claim { self.write_if(Some(room), address) } else { self.read_if(Some(room), address) };
        let old = if claim { self.atomic(AtomicOp::Cmpxchg, address, &[zero, hash]) } else { self.load(address) };
        let (empty, found) = (self.op2(AluOp::Ieq, old, zero), self.op2(AluOp::Ieq, old, hash));
        let done = self.op2(AluOp::Ior, empty, found);
        let done = self.op2(AluOp::Ior, done, full);
        let exit = self.b.push_if(done);
        self.b.jump(JumpKind::Break);
        self.b.end_if(exit);
        let next = self.add(slot, one);
        let next = self.op2(AluOp::Iand, next, mask);
        let count = self.add(tried, one);
        let latch = self.b.block();
        for (phi, value) in [(slot, next), (tried, count)] {
            let phi = self.b.body.def_inst(phi);
            self.b.body.add_phi_source(phi, latch, value);
        }
        self.b.end_loop(id);
        (address, old)
    }

    /// Returns the value of a texel that was not stored.
    fn analytic_texel(&mut self, key: Key) -> [Def; 4] {
        let [unit, x, y, z, sample] = key;
        [x, y, z, self.add(sample, unit)]
    }

    fn load_texel(&mut self, key: Key) -> [Def; 4] {
        let hash = self.hash(key);
        let (address, old) = self.find(hash, false);
        let found = self.op2(AluOp::Ieq, old, hash);
        let address = self.read_if(Some(found), address);
        let others = self.analytic_texel(key);
        let mut words = others;
        for (number, word) in words.iter_mut().enumerate() {
            let at = self.add_word(address, 4 * (TEXEL_VALUE + number as u32));
            let stored = self.load(at);
            *word = self.select(found, stored, others[number]);
        }
        words
    }

    /// Claims the slot of a texel; returns its address, and whether it is new.
    fn claim_texel(&mut self, key: Key) -> (Def, Def) {
        let hash = self.hash(key);
        let (address, old) = self.find(hash, true);
        for (number, word) in key.into_iter().enumerate() {
            let at = self.add_word(address, 4 * (TEXEL_KEY + number as u32));
            self.store(at, word);
        }
        let zero = self.word(0);
        let is_new = self.op2(AluOp::Ieq, old, zero);
        (address, is_new)
    }
}

impl Replacement<'_> {
    pub(crate) fn lift_image(&mut self) -> Result<(), &'static str> {
        use IntrinsicOp as I;
        match self.op {
            I::ImageDerefLoad | I::ImageLoad | I::BindlessImageLoad => self.load_image(false),
            I::ImageDerefSparseLoad | I::ImageSparseLoad | I::BindlessImageSparseLoad => self.load_image(true),
            I::ImageDerefStore | I::ImageStore | I::BindlessImageStore => self.store_image(),
            I::ImageDerefAtomic
            | I::ImageAtomic
            | I::BindlessImageAtomic
            | I::ImageDerefAtomicSwap
            | I::ImageAtomicSwap
            | I::BindlessImageAtomicSwap => self.image_atomic(),
            I::IsSparseTexelsResident | I::SparseResidencyCodeAnd => self.lift_resource(),
            I::ImageDerefSize | I::ImageSize | I::BindlessImageSize => self.image_size(Query::Size),
            I::ImageDerefLevels | I::ImageLevels | I::BindlessImageLevels => self.image_size(Query::Levels),
            I::ImageDerefSamples | I::ImageSamples | I::BindlessImageSamples => self.image_size(Query::Samples),
            op => Err(op.name()),
        }
    }

    fn image_unit(&mut self) -> Result<Unit, &'static str> {
        let source = self.source(0);
        if matches!(self.shader.main().inst(self.shader.main().def_inst(source)), tgsi_ir::body::InstData::Deref { .. })
        {
            let path = unit_path(self.shader, source)?;
            return Ok(self.code().unit_at(&path));
        }
        if self.op.info().index_slot(IndexKind::RangeBase).is_none() {
            return Ok(self.code().unit_of_handle(source));
        }
        let first = self.shader.main().index(self.inst, IndexKind::RangeBase) as u32;
        let number = self.code().add_word(source, first);
        Ok(Unit { number, exists: None, constant: None })
    }

    /// Returns the key of the accessed texel, from the coordinates that the dimensionality has.
    fn key(&mut self, unit: Unit) -> Key {
        let body = self.shader.main();
        let dim = SamplerDim::from_i32(body.index(self.inst, IndexKind::ImageDim)).unwrap_or(SamplerDim::Dim2D);
        let is_array = body.index(self.inst, IndexKind::ImageArray) != 0;
        let count = (dim.num_coords() + u8::from(is_array)).min(3);
        let (coordinate, sample) = (self.source(1), self.source(2));
        let mut code = self.code();
        let zero = code.word(0);
        let mut component =
            |component: u8| if component < count { code.b.channel(coordinate, component) } else { zero };
        let [x, y, z] = [component(0), component(1), component(2)];
        let sample = match dim {
            SamplerDim::Ms | SamplerDim::SubpassMs => code.b.channel(sample, 0),
            _ => zero,
        };
        [unit.number, x, y, z, sample]
    }

    fn load_image(&mut self, sparse: bool) -> Result<(), &'static str> {
        let unit = self.image_unit()?;
        let (key, shape) = (self.key(unit), self.shape());
        let stores = self.layout.stores_texels;
        let mut code = self.code();
        let words = if stores { code.load_texel(key) } else { code.analytic_texel(key) };
        let (zero, one) = (code.word(0), code.word(1));
        let count = usize::from(shape.num_components);
        let components: Vec<Def> = (0..count)
            .map(|component| {
                let resident = sparse && component + 1 == count;
                let word = if resident { one } else { words.get(component).copied().unwrap_or(one) };
                let word = code.select_if(unit.exists, word, zero);
                if shape.bit_size == 64 { code.op1(AluOp::U2u64, word) } else { code.resize(word, shape.bit_size) }
            })
            .collect();
        let value = code.b.vec_of(&components);
        self.replace(value);
        Ok(())
    }

    /// Emits the condition under which the lane writes an image.
    fn image_condition(&mut self, unit: Unit) -> Option<Def> {
        let kills = self.kills;
        let mut code = self.code();
        let may_write = kills.then(|| code.may_write());
        match (unit.exists, may_write) {
            (Some(exists), Some(may_write)) => Some(code.op2(AluOp::Iand, exists, may_write)),
            (exists, may_write) => exists.or(may_write),
        }
    }

    fn store_image(&mut self) -> Result<(), &'static str> {
        let unit = self.image_unit()?;
        let (key, value) = (self.key(unit), self.source(3));
        let condition = self.image_condition(unit);
        let mut code = self.code();
        let code = &mut code;
        let side = condition.map(|condition| code.b.push_if(condition));
        let (address, _) = code.claim_texel(key);
        let zero = code.word(0);
        for component in 0..4u8 {
            let word = if component < code.b.body.num_components(value) {
                let words = code.words_of(value, component);
                words[0]
            } else {
                zero
            };
            let at = code.add_word(address, 4 * (TEXEL_VALUE + u32::from(component)));
            code.store(at, word);
        }
        if let Some(side) = side {
            code.b.end_if(side);
        }
        self.remove();
        Ok(())
    }

    fn image_atomic(&mut self) -> Result<(), &'static str> {
        let unit = self.image_unit()?;
        let key = self.key(unit);
        let body = self.shader.main();
        let op = AtomicOp::from_i32(body.index(self.inst, IndexKind::AtomicOp)).unwrap_or(AtomicOp::Iadd);
        let operands: Vec<Def> = (3..body.num_sources(self.inst)).map(|number| body.src(self.inst, number)).collect();
        let condition = self.image_condition(unit);
        let mut code = self.code();
        let code = &mut code;
        let side = condition.map(|condition| code.b.push_if(condition));
        let (address, is_new) = code.claim_texel(key);
        let fresh = code.write_if(Some(is_new), address);
        for (number, word) in (0..).zip(code.analytic_texel(key)) {
            let at = code.add_word(fresh, 4 * (TEXEL_VALUE + number));
            code.store(at, word);
        }
        let at = code.add_word(address, 4 * TEXEL_VALUE);
        let operands: Vec<Def> = operands.into_iter().map(|operand| code.b.channel(operand, 0)).collect();
        let mut old = code.atomic(op, at, &operands);
        if let Some(side) = side {
            let then = code.b.block();
            code.b.push_else(side);
            let zero = code.word(0);
            let other = code.b.block();
            code.b.end_if(side);
            old = code.b.phi(Shape::new(1, 32), &[(then, old), (other, zero)]);
        }
        self.replace(old);
        Ok(())
    }

    fn image_size(&mut self, query: Query) -> Result<(), &'static str> {
        let unit = self.image_unit()?;
        let shape = self.shape();
        let mut code = self.code();
        let words = match query {
            Query::Size => code.analytic_size(unit, None).to_vec(),
            Query::Levels => vec![code.word(7); 4],
            Query::Samples => vec![code.word(4); 4],
        };
        let zero = code.word(0);
        let components: Vec<Def> = (0..usize::from(shape.num_components))
            .map(|component| {
                let word = words.get(component).copied().unwrap_or(zero);
                let word = code.select_if(unit.exists, word, zero);
                if shape.bit_size == 64 { code.op1(AluOp::U2u64, word) } else { code.resize(word, shape.bit_size) }
            })
            .collect();
        let value = code.b.vec_of(&components);
        self.replace(value);
        Ok(())
    }
}

/// An image query.
#[derive(Clone, Copy)]
enum Query {
    Size,
    Levels,
    Samples,
}
