//! Argument values of `draw` and their parsers.

use std::path::PathBuf;
use std::str::FromStr;

use tgsi_raster::{Attribute, WrapMode};

/// Maximum width or height in pixels.
const MAX_SIZE: u32 = 8192;
/// Maximum number of vec4s in a constant buffer from the command line.
const MAX_REGISTERS: u32 = 4096;
/// Maximum number of constant buffers.
const MAX_BUFFERS: u32 = 32;

/// Parses an attribute name.
pub fn attribute(name: &str) -> Result<Attribute, String> {
    Attribute::ALL.into_iter().find(|attribute| attribute.name() == name).ok_or_else(|| {
        let names = Attribute::ALL.map(Attribute::name);
        format!("no such attribute; there are {}", names.join(", "))
    })
}

/// Parses width and height, as in `640x480`.
pub fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    sides
        .filter(|&(width, height)| (1..=MAX_SIZE).contains(&width) && (1..=MAX_SIZE).contains(&height))
        .ok_or_else(|| format!("expected a size such as 640x480, each side from 1 to {MAX_SIZE}"))
}

/// Parses a colour, as in `ff8000ff`.
pub fn color(text: &str) -> Result<[u8; 4], String> {
    let digits = Some(text).filter(|text| text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let word = digits.and_then(|text| u32::from_str_radix(text, 16).ok());
    word.map(u32::to_be_bytes).ok_or_else(|| "expected eight hexadecimal digits, such as ff8000ff".to_owned())
}

/// The place of a texture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TextureUnit {
    /// A sampler view unit.
    Number(u32),
    /// A sampler by its name.
    Sampler(String),
}

/// A texture.
#[derive(Clone, Debug)]
pub struct TextureArgument {
    /// The place.
    pub unit: TextureUnit,
    /// The file.
    pub path: PathBuf,
    /// The wrap mode beyond the edges.
    pub wrap: WrapMode,
    /// Whether it is unfiltered.
    pub nearest: bool,
}

impl FromStr for TextureArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<TextureArgument, String> {
        let (unit, mut path) = text.split_once('=').ok_or("expected NAME=FILE, such as image=picture.png")?;
        let unit = match unit.parse() {
            Ok(number) => TextureUnit::Number(number),
            Err(_) if is_name(unit) => TextureUnit::Sampler(unit.to_owned()),
            Err(_) => return Err(format!("`{unit}` is neither a unit, as in 0=picture.png, nor a name")),
        };
        let (mut wrap, mut nearest) = (WrapMode::Repeat, false);
        loop {
            if let Some(rest) = path.strip_suffix(",clamp") {
                (path, wrap) = (rest, WrapMode::Clamp);
            } else if let Some(rest) = path.strip_suffix(",nearest") {
                (path, nearest) = (rest, true);
            } else {
                return Ok(TextureArgument { unit, path: path.into(), wrap, nearest });
            }
        }
    }
}

/// A register of a constant buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConstantRegister {
    /// The buffer index.
    pub buffer: u32,
    /// The index of the vec4.
    pub register: u32,
}

impl FromStr for ConstantRegister {
    type Err = String;

    fn from_str(text: &str) -> Result<ConstantRegister, String> {
        let (buffer, register) = text.split_once('/').unwrap_or(("0", text));
        let number = |text: &str, end: u32| text.parse::<u32>().ok().filter(|&number| number < end);
        match (number(buffer, MAX_BUFFERS), number(register, MAX_REGISTERS)) {
            (Some(buffer), Some(register)) => Ok(ConstantRegister { buffer, register }),
            _ => Err(format!("expected 3 or 1/3: a register below {MAX_REGISTERS} in a buffer below {MAX_BUFFERS}")),
        }
    }
}

/// Values of constants.
#[derive(Clone, Debug)]
pub struct ConstantArgument {
    /// Whether they are set for the vertex shader.
    pub for_vertex: bool,
    /// Whether they are set for the fragment shader.
    pub for_fragment: bool,
    /// The first register.
    pub start: ConstantRegister,
    /// Words from that register on.
    pub words: Vec<u32>,
}

impl FromStr for ConstantArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<ConstantArgument, String> {
        let (place, values) = text.split_once('=').ok_or("as in 3=1,0,0.5,1")?;
        let (stage, register) = place.split_once(':').unwrap_or(("", place));
        let (for_vertex, for_fragment) = match stage {
            "" => (true, true),
            "vertex" => (true, false),
            "fragment" => (false, true),
            _ => return Err("no such stage; there are vertex and fragment".to_owned()),
        };
        let words = values.split(',').map(word).collect::<Result<Vec<u32>, String>>()?;
        let start: ConstantRegister = register.parse()?;
        if start.register as usize + words.len().div_ceil(4) > MAX_REGISTERS as usize {
            return Err(format!("the last register is {}", MAX_REGISTERS - 1));
        }
        Ok(ConstantArgument { for_vertex, for_fragment, start, words })
    }
}

/// Whether a text can be the name of a uniform.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_.[]".contains(c))
}

/// Values of a uniform.
#[derive(Clone, Debug)]
pub struct UniformArgument {
    /// The name.
    pub name: String,
    /// The values of its components.
    pub values: Vec<f64>,
}

impl FromStr for UniformArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<UniformArgument, String> {
        let (name, values) = text.split_once('=').ok_or("expected NAME=VALUES, such as tint=1,0,0.5,1")?;
        if !is_name(name) {
            return Err(format!("`{name}` is not a name; as in lights[2].color=1,1,1"));
        }
        let value = |text: &str| match text.trim() {
            "true" => Ok(1.0),
            "false" => Ok(0.0),
            text => text.parse().map_err(|_| format!("`{text}` is not a number, `true` or `false`")),
        };
        let values = values.split(',').map(value).collect::<Result<Vec<f64>, String>>()?;
        Ok(UniformArgument { name: name.to_owned(), values })
    }
}

/// Parses a float, an integer as in `7i`, or bits as in `0x7`.
fn word(text: &str) -> Result<u32, String> {
    let text = text.trim();
    let bits = text.strip_prefix("0x").map(|digits| u32::from_str_radix(digits, 16).ok());
    let integer = text.strip_suffix('i').map(|digits| digits.parse::<i64>().ok());
    let word = match (bits, integer) {
        (Some(bits), _) => bits,
        (None, Some(integer)) => {
            integer.filter(|i| (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(i)).map(|i| i as u32)
        }
        (None, None) => text.parse::<f32>().ok().map(f32::to_bits),
    };
    word.ok_or_else(|| format!("`{text}` is not a float, an integer such as 7i, or bits such as 0x3f800000"))
}

/// The destination of the time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TimeArgument {
    /// A component of a constant.
    Constant {
        /// The register.
        register: ConstantRegister,
        /// The component.
        component: usize,
    },
    /// A uniform.
    Uniform(String),
}

impl FromStr for TimeArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeArgument, String> {
        if is_name(text) {
            return Ok(TimeArgument::Uniform(text.to_owned()));
        }
        let wanted = "expected the name of a uniform, or REGISTER.COMPONENT, such as 5.x or 1/5.w";
        let (register, component) = text.rsplit_once('.').ok_or(wanted)?;
        let component = ["x", "y", "z", "w"].iter().position(|&name| name == component);
        let component = component.ok_or("the component must be x, y, z or w")?;
        Ok(TimeArgument::Constant { register: register.parse()?, component })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_read() {
        let argument: ConstantArgument = "vertex:1/3=1,-7i,0x10".parse().expect("a constant");
        assert_eq!(argument.start, ConstantRegister { buffer: 1, register: 3 });
        assert_eq!(argument.words, [1f32.to_bits(), -7i32 as u32, 16]);
        assert!(argument.for_vertex && !argument.for_fragment);
        for wrong in ["3", "x=1", "4096=1", "4095=1,2,3,4,5", "32/0=1", "geometry:1=1", "1=", "1=9999999999i"] {
            assert!(wrong.parse::<ConstantArgument>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn textures_times_sizes_and_colours_are_read() {
        let texture: TextureArgument = "2=a=b.png,nearest,clamp".parse().expect("a texture");
        assert_eq!((texture.unit, texture.path.to_str()), (TextureUnit::Number(2), Some("a=b.png")));
        assert!(texture.nearest && texture.wrap == WrapMode::Clamp);
        let texture: TextureArgument = "maps[1]=a.png".parse().expect("a texture");
        assert_eq!(texture.unit, TextureUnit::Sampler("maps[1]".to_owned()));
        let time: TimeArgument = "1/5.w".parse().expect("a time");
        let register = ConstantRegister { buffer: 1, register: 5 };
        assert_eq!(time, TimeArgument::Constant { register, component: 3 });
        assert_eq!("now".parse(), Ok(TimeArgument::Uniform("now".to_owned())));
        let uniform: UniformArgument = "l[2].on=true,-1.5".parse().expect("values");
        assert_eq!((uniform.name.as_str(), uniform.values.as_slice()), ("l[2].on", &[1.0, -1.5][..]));
        assert!(["tint", "1=2", "tint=a", "tint="].iter().all(|wrong| wrong.parse::<UniformArgument>().is_err()));
        assert_eq!(size("640x480"), Ok((640, 480)));
        assert!(["0x1", "9000x1", "12", "1x1x1"].iter().all(|wrong| size(wrong).is_err()));
        assert_eq!(color("ff8000Ff"), Ok([255, 128, 0, 255]));
        assert!(["ff8000", "+f8000ff", "ff8000fff"].iter().all(|wrong| color(wrong).is_err()));
    }
}
