//! Inputs and outputs: words of the harness buffer. Emitted vertices are appended.

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{JumpKind, Shape};
use tgsi_ir::cursor::Cursor;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::IoSemantics;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::shader::ShaderStage;

use crate::Replacement;
use crate::code::Code;
use crate::layout::{Header, TAG_END, TAG_VERTEX};

/// A register file in the buffer.
#[derive(Clone, Copy)]
struct File {
    place: Header,
    /// The number of registers, constant or read from the header.
    registers: Bound,
    /// Whether every lane has its own registers.
    by_lane: bool,
}

#[derive(Clone, Copy)]
enum Bound {
    Header(Header),
    Number(u32),
}

const INPUTS: File = File { place: Header::Inputs, registers: Bound::Header(Header::InputRegisters), by_lane: true };
const FRAMEBUFFER: File =
    File { place: Header::Framebuffer, registers: Bound::Header(Header::FramebufferRegisters), by_lane: true };

/// The target of an access.
#[derive(Clone, Copy)]
struct Slot {
    register: Def,
    component: u32,
    /// Whether the offset is within the range of the access.
    inside: Option<Def>,
    /// The vertex, in files of vertices.
    vertex: Option<Def>,
}

/// A word of a register.
#[derive(Clone, Copy)]
struct RegisterWord {
    /// Whether it is in range; always if `None`.
    inside: Option<Def>,
    address: Def,
}

impl Code<'_> {
    fn bound(&mut self, bound: Bound) -> Def {
        match bound {
            Bound::Header(word) => self.header(word),
            Bound::Number(number) => self.word(number),
        }
    }

    /// Returns the address of a word of a register file, and whether it is in range.
    fn register_address(&mut self, file: File, slot: &Slot, number: u32) -> RegisterWord {
        let at = slot.component + number;
        let register = self.add_word(slot.register, at / 4);
        let bound = self.bound(file.registers);
        let exists = self.op2(AluOp::Ult, register, bound);
        let inside = self.both(slot.inside, exists);
        let four = self.mul_word(register, 4);
        let word = self.add_word(four, at % 4);
        let place = self.header(file.place);
        let address = if file.by_lane {
            let (row, lane) = (self.frame.row_bytes, self.frame.lane_bytes);
            let distance = self.mul(word, row);
            let address = self.add(place, distance);
            self.add(address, lane)
        } else {
            let distance = self.mul_word(word, 4);
            self.add(place, distance)
        };
        RegisterWord { inside, address }
    }

    /// Returns the address of a word of a vertex's register, and whether it is in range.
    fn vertex_address(&mut self, file: File, vertices: Header, slot: &Slot, vertex: Def, number: u32) -> RegisterWord {
        let at = slot.component + number;
        let register = self.add_word(slot.register, at / 4);
        let bound = self.bound(file.registers);
        let exists = self.op2(AluOp::Ult, register, bound);
        let inside = self.both(slot.inside, exists);
        let vertices = self.header(vertices);
        let exists = self.op2(AluOp::Ult, vertex, vertices);
        let inside = self.both(inside, exists);
        let first = self.mul(vertex, bound);
        let register = self.add(first, register);
        let bytes = self.mul_word(register, 16);
        let bytes = self.add_word(bytes, 4 * (at % 4));
        let place = self.header(file.place);
        let address = self.add(place, bytes);
        RegisterWord { inside, address }
    }
}

impl Replacement<'_> {
    fn outputs(&self) -> File {
        File {
            place: Header::Outputs,
            registers: Bound::Number(self.layout.output_registers),
            by_lane: self.layout.stage != ShaderStage::TessCtrl,
        }
    }

    fn slot(&mut self, offset: usize, vertex: Option<usize>) -> Slot {
        let body = self.shader.main_mut();
        let inst = self.inst;
        let (offset, vertex) = (body.src(inst, offset), vertex.map(|vertex| body.src(inst, vertex)));
        let index = |kind| if self.op.info().index_slot(kind).is_some() { body.index(inst, kind) as u32 } else { 0 };
        let (base, range) = (index(IndexKind::Base), index(IndexKind::Range));
        let component = index(IndexKind::Component) & 3;
        let mut code = Code::new(body, Cursor::Before(inst), self.frame);
        let register = code.add_word(offset, base);
        let known = code.b.body.constant_component(offset, 0).is_some_and(|offset| offset < u64::from(range));
        let inside = (range != 0 && !known).then(|| {
            let range = code.word(range);
            code.op2(AluOp::Ult, offset, range)
        });
        Slot { register, component, inside, vertex }
    }

    /// Replaces the instruction's value, and removes the instruction.
    pub(crate) fn replace(&mut self, value: Def) {
        let body = self.shader.main_mut();
        if let Some(def) = body.inst_def(self.inst) {
            body.replace_all_uses(def, value);
        }
        body.remove_inst(self.inst);
    }

    /// Removes the instruction.
    pub(crate) fn remove(&mut self) {
        self.shader.main_mut().remove_inst(self.inst);
    }

    /// Returns a builder of code before the instruction.
    pub(crate) fn code(&mut self) -> Code<'_> {
        Code::new(self.shader.main_mut(), Cursor::Before(self.inst), self.frame)
    }

    /// Returns the shape of the instruction's value.
    pub(crate) fn shape(&self) -> Shape {
        let body = self.shader.main();
        body.inst_def(self.inst).map_or(Shape::new(1, 32), |def| body.shape(def))
    }

    /// Returns a source of the instruction.
    pub(crate) fn source(&self, number: usize) -> Def {
        self.shader.main().src(self.inst, number)
    }

    pub(crate) fn lift_io(&mut self) -> Result<(), &'static str> {
        use IntrinsicOp as I;
        let outputs = self.outputs();
        match self.op {
            I::LoadInput | I::LoadPerPrimitiveInput => self.load_registers(INPUTS, 0, None),
            I::LoadInterpolatedInput => self.load_interpolated(),
            I::LoadPerVertexInput => {
                let registers = Bound::Header(Header::VertexRegisters);
                let file = File { place: Header::Vertices, registers, by_lane: false };
                self.load_registers(file, 1, Some(Header::VertexCount));
            }
            I::LoadOutput => {
                let semantics = self.shader.main().index(self.inst, IndexKind::IoSemantics);
                let fetch = IoSemantics::from_i32(semantics).fb_fetch_output;
                self.load_registers(if fetch { FRAMEBUFFER } else { outputs }, 0, None);
            }
            I::LoadPerVertexOutput => {
                let file = File { place: Header::OutVertices, ..outputs };
                self.load_registers(file, 1, Some(Header::OutVertexCount));
            }
            I::StoreOutput | I::StorePerVertexOutput => self.store_output(outputs),
            I::LoadBarycentricPixel
            | I::LoadBarycentricCentroid
            | I::LoadBarycentricSample
            | I::LoadBarycentricAtSample => {
                let shape = self.shape();
                let zero = self.code().b.constant(shape.bit_size, &[0, 0]);
                self.replace(zero);
            }
            I::LoadBarycentricAtOffset => {
                let offset = self.source(0);
                self.replace(offset);
            }
            op => return Err(op.name()),
        }
        Ok(())
    }

    fn load_registers(&mut self, file: File, offset: usize, vertices: Option<Header>) {
        let slot = self.slot(offset, vertices.map(|_| 0));
        let shape = self.shape();
        let mut code = self.code();
        let value = code.compose(shape, |code, number| {
            let RegisterWord { inside, address } = match (vertices, slot.vertex) {
                (Some(vertices), Some(vertex)) => code.vertex_address(file, vertices, &slot, vertex, number),
                _ => code.register_address(file, &slot, number),
            };
            let address = code.read_if(inside, address);
            code.load(address)
        });
        self.replace(value);
    }

    /// Emits `load_interpolated_input`. A barycentric is the offset from the pixel centre: the result is the value
    /// there, plus the offset times the difference between the pixels of the quad.
    fn load_interpolated(&mut self) {
        let slot = self.slot(1, None);
        let (shape, way) = (self.shape(), self.source(0));
        let mut code = self.code();
        let code = &mut code;
        let value = code.compose(shape, |code, number| {
            let RegisterWord { inside, address: own } = code.register_address(INPUTS, &slot, number);
            let address = code.read_if(inside, own);
            let value = code.load(address);
            if shape.bit_size != 32 || code.b.body.bit_size(way) != 32 {
                return value;
            }
            // Computes the addresses of the quad's lanes from that of this lane.
            let three = code.word(3);
            let lane = code.frame.lane;
            let number = code.op2(AluOp::Iand, lane, three);
            let bytes = code.mul_word(number, 4);
            let quad = code.op2(AluOp::Isub, own, bytes);
            let corner = |code: &mut Code<'_>, lane: u32| {
                let address = code.add_word(quad, 4 * lane);
                let address = code.read_if(inside, address);
                code.load(address)
            };
            let (left_top, left, right) = (corner(code, 0), corner(code, 2), corner(code, 3));
            let dx = code.op2(AluOp::Fsub, right, left);
            let dy = code.op2(AluOp::Fsub, left, left_top);
            let (x, y) = (code.b.channel(way, 0), code.b.channel(way, 1));
            let by_x = code.op2(AluOp::Fmul, x, dx);
            let by_y = code.op2(AluOp::Fmul, y, dy);
            let sum = code.op2(AluOp::Fadd, value, by_x);
            let sum = code.op2(AluOp::Fadd, sum, by_y);
            let zero = code.b.f32_const(0.0);
            let (no_x, no_y) = (code.op2(AluOp::Feq, x, zero), code.op2(AluOp::Feq, y, zero));
            let still = code.op2(AluOp::Iand, no_x, no_y);
            code.select(still, value, sum)
        });
        self.replace(value);
    }

    fn store_output(&mut self, outputs: File) {
        let by_vertex = self.op == IntrinsicOp::StorePerVertexOutput;
        let slot = if by_vertex { self.slot(2, Some(1)) } else { self.slot(1, None) };
        let value = self.source(0);
        let mask = self.shader.main().write_mask(self.inst);
        let shape = self.shader.main().shape(value);
        let mut code = self.code();
        for component in (0..shape.num_components).filter(|c| mask >> c & 1 != 0) {
            let words = code.words_of(value, component);
            let first = u32::from(component) * words.len() as u32;
            for (number, word) in (first..).zip(words) {
                let RegisterWord { inside, address } = match slot.vertex {
                    Some(vertex) => {
                        let file = File { place: Header::OutVertices, ..outputs };
                        code.vertex_address(file, Header::OutVertexCount, &slot, vertex, number)
                    }
                    None => code.register_address(outputs, &slot, number),
                };
                let address = code.write_if(inside, address);
                code.store(address, word);
            }
        }
        self.remove();
    }

    /// Replaces `emit_vertex` and `end_primitive`: writes a tag, and for a vertex the outputs, which are then zeroed.
    pub(crate) fn lift_geometry(&mut self) -> Result<(), &'static str> {
        use IntrinsicOp as I;
        let is_vertex = match self.op {
            I::EmitVertex => true,
            I::EndPrimitive => false,
            op => return Err(op.name()),
        };
        let stream = self.shader.main().index(self.inst, IndexKind::StreamId) as u32;
        if stream < 4 && self.layout.stage == ShaderStage::Geometry {
            self.emit(stream, is_vertex);
        }
        self.remove();
        Ok(())
    }

    fn emit(&mut self, stream: u32, is_vertex: bool) {
        let words = self.layout.output_registers * 4;
        let mut code = self.code();
        let code = &mut code;
        let (lane, bytes) = (code.frame.lane, code.header(Header::EmissionBytes));
        let number = code.mul_word(lane, 4);
        let number = code.add_word(number, stream);
        let distance = code.mul(number, bytes);
        let place = code.header(Header::Emissions);
        let area = code.add(place, distance);
        let used = code.load(area);
        let size = 1 + if is_vertex { words } else { 0 };
        let next = code.add_word(used, size);
        code.store(area, next);
        // Drops what does not fit; the number of words reveals that.
        let end = code.mul_word(next, 4);
        let fits = code.op2(AluOp::Ult, end, bytes);
        let start = code.mul_word(used, 4);
        let address = code.add(area, start);
        let address = code.add_word(address, 4);
        let address = code.write_if(Some(fits), address);
        let tag = code.word(if is_vertex { TAG_VERTEX } else { TAG_END });
        code.store(address, tag);
        if !is_vertex {
            return;
        }
        // A loop keeps the code small: a shader may emit a hundred words at a hundred places.
        let (outputs, lane, row) = (code.header(Header::Outputs), code.frame.lane_bytes, code.frame.row_bytes);
        let first = code.add(outputs, lane);
        let (zero, four) = (code.word(0), code.word(4));
        // Without space, all words are written to the same address.
        let step = code.select(fits, four, zero);
        let start = code.add(address, four);
        let before = code.b.block();
        let id = code.b.push_loop();
        let number = code.b.phi(Shape::new(1, 32), &[(before, zero)]);
        let count = code.word(words);
        let done = code.op2(AluOp::Uge, number, count);
        let exit = code.b.push_if(done);
        code.b.jump(JumpKind::Break);
        code.b.end_if(exit);
        let distance = code.mul(number, row);
        let from = code.add(first, distance);
        let value = code.load(from);
        let distance = code.mul(number, step);
        let to = code.add(start, distance);
        code.store(to, value);
        code.store(from, zero);
        let next = code.add_word(number, 1);
        let latch = code.b.block();
        let phi = code.b.body.def_inst(number);
        code.b.body.add_phi_source(phi, latch, next);
        code.b.end_loop(id);
    }
}
