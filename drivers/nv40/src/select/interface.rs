//! Inputs, outputs and uniforms.
//!
//! | slot | vertex output | fragment input |
//! |---|---|---|
//! | colours, fog, position | the chip's registers | the chip's registers |
//! | `TEXn` | texture coordinate n | texture coordinate n |
//! | `VARn` | texture coordinate n, or if another slot has it the first free one | likewise |
//! | point size, clip distances | components of the fog and size registers; on GeForce FX registers | - |
//! | point coordinate | - | the first free texture coordinate |
//!
//! Linked stages assign the slots that they share. Others agree about a slot if each has the same slots, or no slot
//! takes the place of another.

use std::collections::BTreeMap;

use tgsi_ir::intrinsics::indices::IoSemantics;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::slots::{FragResult, VaryingSlot, VertAttrib};
use tgsi_ir::{Body, Def, Inst, InstData, Shader, ShaderStage};
use tgsi_vec4::simple::{Destination, File, Source};

use super::Selector;
use super::operands::composed;
use crate::Nv40Error;
use crate::isa::Chip;
use crate::lower::is_operand;
use crate::machine::{Code, DEPTH};
use crate::program::{SYSTEM_VALUE, Varying};

/// The place of a slot in the chip's registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    number: u8,
    component: u8,
}

impl Place {
    const fn whole(number: u8) -> Place {
        Place { number, component: 0 }
    }
}

/// A register of the interface and its slot. Several registers may have one slot, though not in linked stages.
type Key = (u32, u8);

/// The places of registers.
type Places = BTreeMap<Key, Place>;

/// The places of the slots of a shader, and the registers that it accesses.
pub(super) struct Interface {
    inputs: Places,
    outputs: Places,
    /// By register and number in the chip's instructions: the components that are accessed.
    read: BTreeMap<(u32, u8), Varying>,
    written: BTreeMap<(u32, u8), Varying>,
}

/// The register, the location, and the first component of an access.
#[derive(Clone, Copy)]
struct Access {
    register: u32,
    location: u8,
    component: u8,
}

impl Access {
    fn key(self) -> Key {
        (self.register, self.location)
    }
}

/// The access of a load of an input or a store of an output without run-time index.
fn access(body: &Body, inst: Inst) -> Option<Access> {
    let offset = body.constant_component(body.src(inst, body.num_sources(inst).checked_sub(1)?), 0)? as u32;
    let semantics = IoSemantics::from_i32(body.index(inst, IndexKind::IoSemantics));
    Some(Access {
        register: body.base(inst).wrapping_add(offset),
        location: semantics.location.wrapping_add(offset as u8),
        component: body.component(inst).min(3),
    })
}

/// Texture coordinates.
const COORDINATES: u8 = 10;

/// The number of the first texture coordinate among vertex outputs, and the number of coordinates.
fn vertex_coordinates(chip: Chip) -> (u8, u8) {
    if chip == Chip::Nv30 { (8, 8) } else { (7, 9) }
}

/// The first texture coordinate among fragment inputs, and the number of coordinates.
fn fragment_coordinates(chip: Chip) -> (u8, u8) {
    (4, if chip == Chip::Nv30 { 8 } else { COORDINATES })
}

/// The slots that a shader shares with linked stages, in ascending order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct LinkedSlots {
    pub(crate) inputs: Vec<u8>,
    pub(crate) outputs: Vec<u8>,
}

/// Assigns texture coordinates to slots: first those with a coordinate, then the others.
fn assign_coordinates(keys: &[Key], (first, count): (u8, u8), places: &mut Places) -> Option<Key> {
    let preferred = |slot: u8| match slot {
        4..=11 => Some(slot - VaryingSlot::TEX0),
        _ => slot.checked_sub(VaryingSlot::VAR0),
    };
    let textures_first = keys.iter().filter(|key| key.1 < VaryingSlot::PNTC);
    let others = keys.iter().filter(|key| key.1 > VaryingSlot::PNTC);
    let last = keys.iter().filter(|key| key.1 == VaryingSlot::PNTC);
    let ordered = textures_first.chain(others).chain(last).copied();
    assign(ordered, count, preferred, |key, number| {
        places.insert(key, Place::whole(first + number));
    })
}

/// Gives each register its preferred number below `count`, or if another one has it the first free number. Returns the
/// first register that gets no number.
fn assign(
    keys: impl IntoIterator<Item = Key>,
    count: u8,
    preferred: impl Fn(u8) -> Option<u8>,
    mut place: impl FnMut(Key, u8),
) -> Option<Key> {
    let mut taken = vec![false; count.into()];
    let mut rest = Vec::new();
    for key in keys {
        let is_free = |&number: &u8| taken.get(usize::from(number)) == Some(&false);
        match preferred(key.1).filter(is_free) {
            Some(number) => {
                taken[usize::from(number)] = true;
                place(key, number);
            }
            None => rest.push(key),
        }
    }
    for key in rest {
        let Some(number) = (0..count).find(|&number| !taken[usize::from(number)]) else { return Some(key) };
        taken[usize::from(number)] = true;
        place(key, number);
    }
    None
}

/// Whether a slot is a texture coordinate.
fn is_coordinate(slot: u8) -> bool {
    matches!(slot, 4..=11) || slot == VaryingSlot::PNTC || (VaryingSlot::VAR0..64).contains(&slot)
}

/// The place of another vertex output.
fn vertex_output(slot: u8, chip: Chip) -> Option<Place> {
    let is_first = chip == Chip::Nv30;
    Some(match slot {
        VaryingSlot::POS => Place::whole(0),
        VaryingSlot::COL0 => Place::whole(if is_first { 3 } else { 1 }),
        VaryingSlot::COL1 => Place::whole(if is_first { 4 } else { 2 }),
        VaryingSlot::BFC0 => Place::whole(if is_first { 1 } else { 3 }),
        VaryingSlot::BFC1 => Place::whole(if is_first { 2 } else { 4 }),
        VaryingSlot::FOGC => Place::whole(5),
        VaryingSlot::PSIZ => Place::whole(6),
        // Three distances beside the fog, three beside the size.
        VaryingSlot::CLIP_DIST0 if !is_first => Place { number: 5, component: 1 },
        VaryingSlot::CLIP_DIST1 if !is_first => Place { number: 6, component: 2 },
        VaryingSlot::CLIP_DIST0 => Place::whole(17),
        VaryingSlot::CLIP_DIST1 => Place::whole(21),
        _ => return None,
    })
}

/// The place of another fragment input.
fn fragment_input(slot: u8, chip: Chip) -> Option<Place> {
    Some(match slot {
        VaryingSlot::FACE if chip != Chip::Nv30 => Place::whole(FACING),
        VaryingSlot::POS => Place::whole(0),
        VaryingSlot::COL0 => Place::whole(1),
        VaryingSlot::COL1 => Place::whole(2),
        VaryingSlot::FOGC => Place::whole(3),
        _ => return None,
    })
}

/// The register of fragment inputs that is positive for front faces, in x.
const FACING: u8 = 14;

/// The number of a vertex attribute that applications name.
fn conventional_attribute(slot: u8) -> Option<u8> {
    Some(match slot {
        VertAttrib::POS => 0,
        VertAttrib::NORMAL => 2,
        VertAttrib::COLOR0 => 3,
        VertAttrib::COLOR1 => 4,
        VertAttrib::FOG => 5,
        VertAttrib::POINT_SIZE => 6,
        VertAttrib::EDGEFLAG => 7,
        6..=13 => slot - VertAttrib::TEX0 + 8,
        _ => return None,
    })
}

/// Assigns attributes: conventional ones have fixed numbers; a generic one has its number if that is free.
fn assign_attributes(keys: &[Key], places: &mut Places) -> Option<Key> {
    let number_of = |slot: u8| conventional_attribute(slot).or_else(|| slot.checked_sub(VertAttrib::GENERIC0));
    let (conventional, generic): (Vec<Key>, Vec<Key>) =
        keys.iter().partition(|key| conventional_attribute(key.1).is_some());
    assign(conventional.into_iter().chain(generic), 16, number_of, |key, number| {
        places.insert(key, Place::whole(number));
    })
}

impl Interface {
    /// Assigns places to the slots that a shader accesses.
    ///
    /// `linked` has the slots that linked stages share, which both sides assign alike.
    pub(super) fn of(shader: &Shader, body: &Body, chip: Chip, linked: &LinkedSlots) -> Result<Interface, Nv40Error> {
        let mut slots: [BTreeMap<Key, Inst>; 2] = Default::default();
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            let side = match body.intrinsic(inst) {
                Some(IntrinsicOp::LoadInput | IntrinsicOp::LoadInterpolatedInput) => 0,
                Some(IntrinsicOp::StoreOutput) => 1,
                _ => continue,
            };
            if let Some(access) = access(body, inst) {
                slots[side].entry(access.key()).or_insert(inst);
            }
        }
        let is_vertex = shader.stage == ShaderStage::Vertex;
        let mut interface = Interface {
            inputs: BTreeMap::new(),
            outputs: BTreeMap::new(),
            read: BTreeMap::new(),
            written: BTreeMap::new(),
        };
        let keys: [Vec<Key>; 2] = [0, 1].map(|side: usize| slots[side].keys().copied().collect());
        let name = |prefix: &str, name: Option<String>, slot: u8| {
            name.map_or_else(|| format!("slot {slot}"), |name| format!("`{prefix}{name}`"))
        };
        let missing = |side: usize, key: Key| {
            let slot = key.1;
            let what = match (is_vertex, side) {
                (true, 0) => name(VertAttrib::PREFIX, VertAttrib::name(slot), slot),
                (false, 1) => name(FragResult::PREFIX, FragResult::name(slot), slot),
                _ => name(VaryingSlot::PREFIX, VaryingSlot::name(slot), slot),
            };
            Nv40Error::Interface { inst: slots[side].get(&key).copied(), chip, what }
        };
        let coordinates = |side: usize| {
            // A slot of the other stage that this one does not access takes a place, too.
            let shared = [&linked.inputs, &linked.outputs][side];
            let key_of = |&slot: &u8| keys[side].iter().find(|key| key.1 == slot).copied().unwrap_or((u32::MAX, slot));
            let first = shared.iter().map(key_of);
            let own = keys[side].iter().filter(|key| !shared.contains(&key.1)).copied();
            first.chain(own).filter(|key| is_coordinate(key.1)).collect::<Vec<Key>>()
        };
        if is_vertex {
            if let Some(key) = assign_attributes(&keys[0], &mut interface.inputs) {
                return Err(missing(0, key));
            }
            let places = &mut interface.outputs;
            let mut varyings = coordinates(1);
            varyings.retain(|key| key.1 != VaryingSlot::PNTC);
            if let Some(key) = assign_coordinates(&varyings, vertex_coordinates(chip), places) {
                return Err(missing(1, key));
            }
            for &key in keys[1].iter().filter(|key| !is_coordinate(key.1)) {
                places.insert(key, vertex_output(key.1, chip).ok_or_else(|| missing(1, key))?);
            }
        } else {
            let varyings = coordinates(0);
            let places = &mut interface.inputs;
            if let Some(key) = assign_coordinates(&varyings, fragment_coordinates(chip), places) {
                return Err(missing(0, key));
            }
            for &key in keys[0].iter().filter(|key| !is_coordinate(key.1)) {
                places.insert(key, fragment_input(key.1, chip).ok_or_else(|| missing(0, key))?);
            }
            let colours = if chip == Chip::Nv30 { 1 } else { 4 };
            for &key in &keys[1] {
                let number = match key.1 {
                    FragResult::COLOR => Some(0),
                    FragResult::DEPTH => Some(DEPTH as u8),
                    slot => slot.checked_sub(FragResult::DATA0).filter(|&number| number < colours),
                };
                let place = Place::whole(number.ok_or_else(|| missing(1, key))?);
                interface.outputs.insert(key, place);
            }
        }
        Ok(interface)
    }

    /// The inputs and outputs that are accessed, by register.
    pub(super) fn into_varyings(self) -> (Vec<Varying>, Vec<Varying>) {
        (self.read.into_values().collect(), self.written.into_values().collect())
    }
}

/// Adds an access to a register.
fn note(varyings: &mut BTreeMap<(u32, u8), Varying>, access: Access, place: Place, mask: u8) {
    let varying = varyings.entry((access.register, place.number)).or_insert(Varying {
        register: access.register,
        location: access.location.into(),
        number: place.number,
        component: place.component,
        mask: 0,
    });
    varying.mask |= mask;
}

impl Selector<'_> {
    /// The operand of a value that instructions read in place.
    pub(super) fn operand_in_place(&mut self, def: Def) -> Option<Source> {
        let body = self.body;
        if !is_operand(body, def) {
            return None;
        }
        let inst = body.def_inst(def);
        if body.intrinsic(inst) == Some(IntrinsicOp::LoadUniform) {
            let offset = body.constant_component(body.src(inst, 0), 0)? as i32;
            let register = body.index(inst, IndexKind::Base).wrapping_add(offset);
            let Ok(register) = u16::try_from(register) else { return Some(self.word(0)) };
            self.uniforms = self.uniforms.max(register.saturating_add(1));
            return Some(Source::new(File::Uniform, register.into()));
        }
        let access = access(body, inst)?;
        let place = *self.interface.inputs.get(&access.key())?;
        let mask = (body.full_mask(def) as u8) << access.component & 15;
        note(&mut self.interface.read, access, place, mask);
        let shift = access.component;
        let source = Source::new(File::Input, place.number.into());
        Some(self.fixed_components(access.location, source.swizzled([0, 1, 2, 3].map(|c: u8| (c + shift).min(3)))))
    }

    /// An input of which the chip has some components: the others are constants.
    fn fixed_components(&mut self, location: u8, source: Source) -> Source {
        // The fog is (coordinate, factor, 0, 0) in fragment programs, and (coordinate, 0, 0, 1) in the languages.
        if self.shader.stage != ShaderStage::Fragment || location != VaryingSlot::FOGC {
            return source;
        }
        let row = [0.0f32, 0.0, 0.0, 1.0].map(f32::to_bits);
        let constant = Source::new(File::Constant, self.program.constants.intern(row));
        let temp = self.new_temp();
        self.emit(Code::Mov, Destination::new(File::Temporary, temp.index, 0b0001), [source.swizzled([0; 4])]);
        self.emit(Code::Mov, Destination::new(File::Temporary, temp.index, 0b1110), [constant]);
        composed(temp, source.swizzle)
    }

    /// A load that is not an operand: with a run-time index.
    pub(super) fn load_input(&mut self, inst: Inst) -> Result<(), Nv40Error> {
        let Some(def) = self.body.inst_def(inst) else { return Ok(()) };
        if is_operand(self.body, def) {
            return Ok(());
        }
        let barycentric = self.body.intrinsic(self.body.def_inst(self.body.src(inst, 0)));
        if matches!(barycentric, Some(IntrinsicOp::LoadBarycentricAtOffset | IntrinsicOp::LoadBarycentricAtSample)) {
            return Err(self.lacks(inst, "interpolation at other places"));
        }
        if self.body.intrinsic(inst) == Some(IntrinsicOp::LoadInterpolatedInput)
            && let Some(access) = access(self.body, inst)
            && let Some(&place) = self.interface.inputs.get(&access.key())
        {
            let target = self.target(def);
            note(&mut self.interface.read, access, place, target.mask() << access.component & 15);
            let shift = access.component;
            let source = Source::new(File::Input, place.number.into());
            let source = source.swizzled([0, 1, 2, 3].map(|c: u8| (c + shift).min(3)));
            let source = self.fixed_components(access.location, source);
            self.emit_to(Code::Mov, target, [source]);
            return Ok(());
        }
        Err(self.lacks(inst, "index of inputs"))
    }

    pub(super) fn load_uniform(&mut self, inst: Inst) -> Result<(), Nv40Error> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        if is_operand(body, def) {
            return Ok(());
        }
        if self.shader.stage == ShaderStage::Fragment {
            return Err(self.lacks(inst, "index of constants in fragment programs"));
        }
        let (relative, offset) = self.load_address(body.src(inst, 0), body.index(inst, IndexKind::Base));
        self.uniforms = self.uniforms.max(self.shader.num_uniforms.min(u16::MAX.into()) as u16);
        let target = self.target(def);
        let source = Source { relative: Some(relative), ..Source::new(File::Uniform, offset) };
        self.emit_to(Code::Mov, target, [source]);
        Ok(())
    }

    pub(super) fn store_output(&mut self, inst: Inst) -> Result<(), Nv40Error> {
        let body = self.body;
        let Some(access) = access(body, inst) else { return Err(self.lacks(inst, "index of outputs")) };
        let Some(&place) = self.interface.outputs.get(&access.key()) else { return Ok(()) };
        let value = body.src(inst, 0);
        if matches!(body.inst(body.def_inst(value)), InstData::Undef) {
            return Ok(());
        }
        let mask = (body.write_mask(inst) as u8) << access.component & 15;
        let is_clip = matches!(access.location, VaryingSlot::CLIP_DIST0 | VaryingSlot::CLIP_DIST1);
        let is_vertex = self.shader.stage == ShaderStage::Vertex;
        if !(is_vertex && is_clip) {
            note(&mut self.interface.written, access, place, mask);
        }
        let source = self.source_of(body.source(inst, 0));
        let value_of = |c: u8| c.saturating_sub(access.component);
        if !is_vertex {
            // The depth is z of its register.
            let is_depth = access.location == FragResult::DEPTH;
            let to = Destination::new(File::Output, place.number.into(), if is_depth { 0b0100 } else { mask });
            let channels = if is_depth { [0; 4] } else { [0, 1, 2, 3].map(value_of) };
            self.emit(Code::Mov, to, [composed(source, channels)]);
            return Ok(());
        }
        if !is_clip {
            // Fog and size share their registers with clip distances.
            let is_scalar = matches!(access.location, VaryingSlot::FOGC | VaryingSlot::PSIZ);
            let mask = if is_scalar { mask & 1 } else { mask };
            if mask != 0 {
                let to = Destination::new(File::Output, place.number.into(), mask);
                self.emit(Code::Mov, to, [composed(source, [0, 1, 2, 3].map(value_of))]);
            }
            return Ok(());
        }
        for c in (0..4).filter(|c| mask >> c & 1 != 0) {
            let plane = c + if access.location == VaryingSlot::CLIP_DIST1 { 4 } else { 0 };
            if plane > 5 {
                return Err(Nv40Error::Interface {
                    inst: Some(inst),
                    chip: self.options.chip,
                    what: format!("clip distance {plane}"),
                });
            }
            let (number, component) = match self.options.chip {
                Chip::Nv30 => (17 + plane, 0),
                Chip::Nv40 | Chip::Rsx => (5 + plane / 3, 1 + plane % 3),
            };
            let place = Place { number, component: (4 + component - c) & 3 };
            note(&mut self.interface.written, access, place, 1 << c);
            let to = Destination::new(File::Output, number.into(), 1 << component);
            self.emit(Code::Mov, to, [composed(source, [value_of(c); 4])]);
        }
        Ok(())
    }

    /// 1.0 or 0.0, or 1.0 or -1.0, by the face.
    pub(super) fn load_front_face(&mut self, inst: Inst, is_boolean: bool) -> Result<(), Nv40Error> {
        let Some(def) = self.body.inst_def(inst) else { return Ok(()) };
        if self.options.chip == Chip::Nv30 {
            return Err(self.lacks(inst, "input for the face"));
        }
        let target = self.target(def);
        let facing = self.system_input(VaryingSlot::FACE, Place::whole(FACING), 1).swizzled([0; 4]);
        if is_boolean {
            let zero = self.float(0.0);
            // 1 if 0 < S0.
            self.emit_to(Code::Slt, target, [zero, facing]);
        } else {
            self.emit_to(Code::Mov, target, [facing]);
        }
        Ok(())
    }

    /// Notes the read of a system value that is an input of the chip. Returns the operand.
    fn system_input(&mut self, location: u8, place: Place, mask: u8) -> Source {
        let access = Access { register: SYSTEM_VALUE, location, component: 0 };
        note(&mut self.interface.read, access, place, mask);
        Source::new(File::Input, place.number.into())
    }

    /// The position in the window.
    pub(super) fn load_position(&mut self, inst: Inst) -> Result<(), Nv40Error> {
        let Some(def) = self.body.inst_def(inst) else { return Ok(()) };
        let target = self.target(def);
        let source = self.system_input(VaryingSlot::POS, Place::whole(0), target.mask());
        self.emit_to(Code::Mov, target, [source]);
        Ok(())
    }

    /// The coordinate in a point: a texture coordinate that no slot has.
    pub(super) fn load_point_coordinate(&mut self, inst: Inst) -> Result<(), Nv40Error> {
        let Some(def) = self.body.inst_def(inst) else { return Ok(()) };
        let (first, count) = fragment_coordinates(self.options.chip);
        let is_taken = |number: u8| {
            let of_slots = self.interface.inputs.iter().any(|(key, p)| is_coordinate(key.1) && p.number == number);
            of_slots && !self.interface.read.contains_key(&(SYSTEM_VALUE, number))
        };
        let Some(number) = (first..first + count).find(|&number| !is_taken(number)) else {
            let what = "the point coordinate".to_owned();
            return Err(Nv40Error::Interface { inst: Some(inst), chip: self.options.chip, what });
        };
        let target = self.target(def);
        let source = self.system_input(VaryingSlot::PNTC, Place::whole(number), target.mask());
        self.emit_to(Code::Mov, target, [source]);
        Ok(())
    }
}
