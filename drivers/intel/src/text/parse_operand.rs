//! Operands from text.

use super::Problem;
use super::cursor::{Cursor, Fault};
use super::operand::{ARCHITECTURE_NAMES, COMPONENTS, DEPENDENCY_TYPE};
use crate::isa::{
    AccessMode, Destination, File, Flag, HorizontalStride, Immediate, ImmediateType, Operand, Region, Register, Source,
    Swizzle, Type, VerticalStride, Width, WriteMask, arf,
};

type Result<T> = std::result::Result<T, Fault>;

/// The general register that replaces the first message register of older generations.
const MESSAGE_REGISTERS: u8 = 112;

/// A register before its type, which the unit of its offset depends on.
#[derive(Clone, Copy)]
enum Place {
    Direct { file: File, number: u8, element: u8 },
    Indirect(Register),
}

/// The elements that an operand states.
#[derive(Clone, Copy, Default)]
struct Elements {
    vertical: Option<VerticalStride>,
    width: Option<Width>,
    horizontal: Option<HorizontalStride>,
}

/// An operand in registers, before the access mode is known, which is at the end of an instruction.
#[derive(Clone, Copy)]
pub(super) struct Parsed {
    position: usize,
    negate: bool,
    absolute: bool,
    place: Place,
    elements: Elements,
    components: Components,
    ty: Type,
}

/// Up to four components after a dot, and their number.
#[derive(Clone, Copy, Default)]
struct Components([u8; 4], usize);

/// A source before the access mode is known.
#[derive(Clone, Copy)]
pub(super) enum ParsedSource {
    Register(Parsed),
    Immediate(Immediate),
}

/// Takes a flag: `f0.1`.
pub(super) fn flag(cursor: &mut Cursor<'_>) -> Result<Flag> {
    let start = *cursor;
    if !cursor.eat("f") {
        return Err(cursor.fault(Problem::Expected("a flag")));
    }
    let register = cursor.small("the flag register")?;
    let half = if cursor.eat(".") { cursor.small("the flag half")? } else { 0 };
    if register > 1 || half > 1 { Err(start.fault(Problem::Range("the flag"))) } else { Ok(Flag { register, half }) }
}

fn register_type(cursor: &mut Cursor<'_>) -> Result<Type> {
    cursor.eat(":");
    let start = *cursor;
    let name = cursor.take(|c| c.is_ascii_uppercase());
    Type::from_name(name).ok_or_else(|| start.fault(Problem::Unknown("type", name.to_owned())))
}

/// The number after the name of a kind of architecture registers.
fn numbered(name: &str) -> Option<u8> {
    let digits = name.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let prefix = &name[..name.len() - digits.len()];
    let number: u8 = digits.parse().ok().filter(|&number| number < 16)?;
    let (kind, _) = ARCHITECTURE_NAMES.iter().find(|(_, name)| *name == prefix)?;
    Some(kind | number)
}

/// Takes the name of a register, the number in it, and the element after a dot.
fn place(cursor: &mut Cursor<'_>) -> Result<Place> {
    let start = *cursor;
    let unknown = |name: &str| start.fault(Problem::Unknown("register", name.to_owned()));
    let name = cursor.name();
    if matches!(name, "g" | "r" | "m") && cursor.eat("[") {
        return indirect(cursor).map(Place::Indirect);
    }
    let number_after = |prefix: &str| name.strip_prefix(prefix).and_then(|digits| digits.parse::<u8>().ok());
    let (file, number) = if let Some(number) = number_after("g").or(number_after("r")) {
        (File::Grf, number)
    } else if let Some(number) = number_after("m") {
        let number = if number < 16 { MESSAGE_REGISTERS + number } else { return Err(unknown(name)) };
        (File::Grf, number)
    } else {
        let number = match name {
            "null" => Some(arf::NULL),
            "ip" => Some(arf::IP),
            "tdr0" => Some(arf::THREAD_DEPENDENCY),
            "ce0" => Some(arf::MASK),
            _ => number_after("ARF").or(numbered(name)),
        };
        (File::Arf, number.ok_or_else(|| unknown(name))?)
    };
    let before = *cursor;
    let has_element = cursor.eat(".") && cursor.peek().is_some_and(|c| c.is_ascii_digit());
    let element = if has_element {
        cursor.small("the element")?
    } else {
        *cursor = before;
        0
    };
    Ok(Place::Direct { file, number, element })
}

/// Takes the rest of `g[a0.1 16]`.
fn indirect(cursor: &mut Cursor<'_>) -> Result<Register> {
    cursor.expect("a0", "`a0`")?;
    let address = if cursor.eat(".") { cursor.small("the address register")? } else { 0 };
    cursor.skip()?;
    let start = *cursor;
    let offset = if cursor.peek() == Some(']') { 0 } else { cursor.signed("the offset")? };
    // Offsets of ten bits may be written without a sign.
    let offset = if (512..1024).contains(&offset) { offset - 1024 } else { offset };
    let offset = i16::try_from(offset).map_err(|_| start.fault(Problem::Range("the offset")))?;
    cursor.expect("]", "`]`")?;
    Ok(Register::Indirect { address, offset })
}

/// Takes a region, if there is one: `<8,8,1>`, `<8;8,1>`, `<4>`, `<VxH,1,0>` or `<1,0>`.
fn elements(cursor: &mut Cursor<'_>) -> Result<Elements> {
    if !cursor.eat("<") {
        return Ok(Elements::default());
    }
    let mut numbers = [0; 3];
    let mut count = 0;
    let start = *cursor;
    let is_indexed = cursor.eat_spaced("VxH")?;
    loop {
        if !(is_indexed && count == 0) {
            cursor.skip()?;
            numbers[count] = cursor.small("a stride")?.into();
        }
        count += 1;
        cursor.skip()?;
        if cursor.eat(">") {
            break;
        }
        if count == 3 || !(cursor.eat(",") || cursor.eat(";")) {
            return Err(cursor.fault(Problem::Expected("`>`")));
        }
    }
    let range = || start.fault(Problem::Range("the region"));
    if count == 2 {
        let width = Width::from_elements(numbers[0]).ok_or_else(range)?;
        let horizontal = HorizontalStride::from_elements(numbers[1]).ok_or_else(range)?;
        return Ok(Elements {
            vertical: Some(VerticalStride::Indexed),
            width: Some(width),
            horizontal: Some(horizontal),
        });
    }
    let vertical = if is_indexed {
        VerticalStride::Indexed
    } else {
        VerticalStride::from_elements(numbers[0]).ok_or_else(range)?
    };
    let (mut width, mut horizontal) = (None, None);
    if count == 3 {
        width = Some(Width::from_elements(numbers[1]).ok_or_else(range)?);
        horizontal = Some(HorizontalStride::from_elements(numbers[2]).ok_or_else(range)?);
    }
    Ok(Elements { vertical: Some(vertical), width, horizontal })
}

fn components(cursor: &mut Cursor<'_>) -> Result<Components> {
    if !cursor.eat(".") {
        return Ok(Components::default());
    }
    let start = *cursor;
    let name = cursor.take(|c| COMPONENTS.contains(&c));
    let mut selectors = [0; 4];
    for (index, c) in name.chars().enumerate() {
        let selector = COMPONENTS.iter().position(|&component| component == c).unwrap_or(0);
        *selectors.get_mut(index).ok_or_else(|| start.fault(Problem::Expected("at most four components")))? =
            selector as u8;
    }
    // A mask without components follows the dot too.
    Ok(Components(selectors, name.len().max(usize::from(name.is_empty()) * EMPTY)))
}

/// The number of components of a lone dot.
const EMPTY: usize = 5;

/// Takes an operand in registers.
pub(super) fn parsed(cursor: &mut Cursor<'_>) -> Result<Parsed> {
    cursor.skip()?;
    let position = cursor.position();
    let negate = cursor.eat("-") || cursor.eat("~");
    let absolute = cursor.eat("(abs)");
    let place = place(cursor)?;
    let mut parsed = Parsed {
        position,
        negate,
        absolute,
        place,
        elements: elements(cursor)?,
        components: components(cursor)?,
        ty: DEPENDENCY_TYPE,
    };
    let is_dependency = matches!(place, Place::Direct { file: File::Arf, number: arf::THREAD_DEPENDENCY, .. });
    if !is_dependency || cursor.peek().is_some_and(|c| c == ':' || c.is_ascii_uppercase()) {
        parsed.ty = register_type(cursor)?;
    }
    Ok(parsed)
}

/// Takes a source.
pub(super) fn source(cursor: &mut Cursor<'_>) -> Result<ParsedSource> {
    cursor.skip()?;
    let mut ahead = *cursor;
    ahead.eat("-");
    match ahead.peek() {
        Some('0'..='9' | '[') => immediate(cursor).map(ParsedSource::Immediate),
        _ => parsed(cursor).map(ParsedSource::Register),
    }
}

/// Takes a constant: `5D`, `0x3f800000F`, `[0, 48, 64, 72]VF`.
fn immediate(cursor: &mut Cursor<'_>) -> Result<Immediate> {
    let start = *cursor;
    let value = if cursor.eat("[") {
        let mut bits = 0;
        for index in 0..4 {
            cursor.skip()?;
            bits |= i128::from(cursor.small("a float of 8 bits")?) << (8 * index);
            let (end, name) = if index == 3 { ("]", "`]`") } else { (",", "`,`") };
            cursor.expect(end, name)?;
        }
        bits
    } else {
        cursor.signed("a constant")?
    };
    cursor.eat(":");
    let before = *cursor;
    let name = cursor.take(|c| c.is_ascii_uppercase());
    let ty = ImmediateType::from_name(name)
        .ok_or_else(|| before.fault(Problem::Unknown("type of a constant", name.to_owned())))?;
    let range = || start.fault(Problem::Range("the constant"));
    let bits = |width: u32| {
        let is_valid = (-(1i128 << (width - 1))..1 << width).contains(&value);
        if is_valid { Ok(value as u64) } else { Err(range()) }
    };
    Ok(match ty {
        ImmediateType::Ud => Immediate::Ud(bits(32)? as u32),
        ImmediateType::D => Immediate::D(bits(32)? as i32),
        ImmediateType::Uw => Immediate::Uw(bits(16)? as u16),
        ImmediateType::W => Immediate::W(bits(16)? as i16),
        ImmediateType::Uv => Immediate::Uv(bits(32)? as u32),
        ImmediateType::V => Immediate::V(bits(32)? as u32),
        ImmediateType::Vf => Immediate::Vf(bits(32)? as u32),
        // `dim` has 64 bits; other opcodes check the range.
        ImmediateType::F => Immediate::Dim(bits(64)?),
    })
}

impl ParsedSource {
    /// Returns the source in an access mode.
    pub(super) fn resolve(self, access: AccessMode, is_ternary: bool, is_dim: bool) -> Result<Source> {
        match self {
            ParsedSource::Register(parsed) => parsed.operand(access, is_ternary).map(Source::Register),
            ParsedSource::Immediate(Immediate::Dim(bits)) if !is_dim => Ok(Immediate::F(bits as u32).into()),
            ParsedSource::Immediate(immediate) => Ok(immediate.into()),
        }
    }
}

impl Parsed {
    fn register(&self) -> Result<Register> {
        match self.place {
            Place::Direct { file, number, element } => {
                let offset = u32::from(element) * self.ty.size();
                let offset = u8::try_from(offset).map_err(|_| (self.position, Problem::Range("the element")))?;
                Ok(Register::Direct { file, number, offset })
            }
            Place::Indirect(register) => Ok(register),
        }
    }

    /// The type.
    pub(super) fn ty(&self) -> Type {
        self.ty
    }

    /// Returns the operand with another type.
    pub(super) fn with_type(self, ty: Type) -> Parsed {
        Parsed { ty, ..self }
    }

    /// Returns the source in an access mode.
    pub(super) fn operand(&self, access: AccessMode, is_ternary: bool) -> Result<Operand> {
        let Elements { vertical, width, horizontal } = self.elements;
        let vertical = vertical.unwrap_or(VerticalStride::S0);
        let Components(selectors, count) = self.components;
        let swizzle = match count {
            0 => Swizzle::IDENTITY,
            1 => Swizzle::replicate(selectors[0]),
            4 => Swizzle::new(selectors),
            _ => return Err((self.position, Problem::Expected("one or four components"))),
        };
        let region = match access {
            AccessMode::Align16 if is_ternary && vertical == VerticalStride::S0 => Region::SCALAR,
            AccessMode::Align16 if is_ternary => Region::swizzled(swizzle),
            // Mesa's assembler takes the rows of align1 for those of align16.
            AccessMode::Align16 if vertical == VerticalStride::S8 => Region::swizzled(swizzle),
            AccessMode::Align16 => Region::Align16 { vertical, swizzle },
            AccessMode::Align1 if count != 0 => return Err((self.position, Problem::Expected("no swizzle in align1"))),
            AccessMode::Align1 => Region::Align1 {
                vertical,
                width: width.unwrap_or(Width::W1),
                horizontal: horizontal.unwrap_or(HorizontalStride::S0),
            },
        };
        let Parsed { negate, absolute, ty, .. } = *self;
        Ok(Operand { register: self.register()?, ty, region, negate, absolute })
    }

    /// Returns the destination.
    pub(super) fn destination(&self) -> Result<Destination> {
        let fault = |problem| (self.position, problem);
        let Elements { vertical, width, .. } = self.elements;
        let stride = match vertical {
            None => Some(HorizontalStride::S1),
            Some(stride) => stride.elements().and_then(HorizontalStride::from_elements),
        };
        let stride = stride.filter(|_| width.is_none()).ok_or(fault(Problem::Expected("one stride")))?;
        if self.negate || self.absolute {
            return Err(fault(Problem::Expected("a destination without modifiers")));
        }
        let Components(selectors, count) = self.components;
        let mask = match count {
            0 => WriteMask::XYZW,
            EMPTY => WriteMask(0),
            _ => {
                let written = &selectors[..count.min(4)];
                if !written.is_sorted_by(|first, second| first < second) {
                    return Err(fault(Problem::Expected("components in order")));
                }
                WriteMask(written.iter().fold(0, |mask, component| mask | 1 << component))
            }
        };
        Ok(Destination { register: self.register()?, ty: self.ty, stride, mask })
    }
}
