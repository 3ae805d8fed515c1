//! The front end of SPIR-V for the compiler.

use std::borrow::Cow;

use tgsi::limits::{LimitInfo, Limits};
use tgsi_compiler::front_end::{FrontEnd, PositionUnit, ReadRequest, Reader, Reading, Recognition};
use tgsi_compiler::{DriverOption, Source, SourceMap, UnknownOption};
use tgsi_diagnostics::{ErrorCode, Span};
use tgsi_ir::shader::ShaderStage;

use crate::compile::{Compiled, compile, stage_of};
use crate::error::SpirvError;
use crate::limits::SpirvLimits;
use crate::options::{Bind, BindKind, Depth, Environment, SpirvOptions};
use crate::words::{Words, is_module};

/// The front end of SPIR-V.
pub static SPIRV: Spirv = Spirv;

/// The front end of SPIR-V: modules as words, in either byte order.
#[derive(Clone, Copy, Debug)]
pub struct Spirv;

const OPTIONS: &[DriverOption] = &[
    DriverOption { name: "stage", about: "The stage, such as `stage=vertex`; needed if a module has several" },
    DriverOption { name: "entry", about: "The entry point, such as `entry=main`; needed if a stage has several" },
    DriverOption {
        name: "spec",
        about: "The value of a specialisation constant, such as `spec=3:0.5`: a number of its type, or bits as 0x3f000000",
    },
    DriverOption {
        name: "bind",
        about: "The first register of a resource: `bind=KIND:SET:BINDING:NUMBER`, with the kinds constant, buffer, image and unit",
    },
    DriverOption { name: "count", about: "The length of an array of descriptors: `count=SET:BINDING:LENGTH`" },
    DriverOption {
        name: "environment",
        about: "The API whose rules hold: `environment=vulkan`, `opengl`, or `tgsic` for modules of the SPIR-V driver; by default that of the module",
    },
    DriverOption { name: "flat", about: "Uniform blocks are behind each other in constant buffer 0" },
    DriverOption {
        name: "separate",
        about: "Textures and samplers that are separate in the module have separate units",
    },
    DriverOption { name: "flip-y", about: "The y coordinate of positions changes its sign" },
    DriverOption {
        name: "depth",
        about: "The range of depth of the consumer: `depth=zero-to-one` as in Vulkan, `minus-one-to-one` as in OpenGL",
    },
    DriverOption {
        name: "tess-origin",
        about: "The origin of the tessellation domain: `tess-origin=upper-left` as in Vulkan, `lower-left` as in OpenGL",
    },
];

impl FrontEnd for Spirv {
    fn name(&self) -> &'static str {
        "spirv"
    }

    fn about(&self) -> &'static str {
        "SPIR-V 1.0 to 1.6 for Vulkan or OpenGL: vertex, tessellation, geometry, fragment and compute shaders"
    }

    fn file_extensions(&self) -> &'static [&'static str] {
        &["spv"]
    }

    fn position_unit(&self) -> PositionUnit {
        PositionUnit::Words
    }

    fn recognize(&self, bytes: &[u8]) -> Recognition {
        if is_module(bytes) { Recognition::Certain } else { Recognition::No }
    }

    fn stages(&self, bytes: &[u8]) -> Vec<ShaderStage> {
        let Ok((words, _)) = Words::read(bytes, &SpirvLimits::default()) else { return Vec::new() };
        let entries =
            words.instructions().map_while(Result::ok).take_while(|inst| inst.op != spirv::Op::Function as u16);
        let entries = entries.filter(|inst| inst.op == spirv::Op::EntryPoint as u16);
        let mut stages: Vec<ShaderStage> = entries.filter_map(|inst| stage_of(inst.word(0))).collect();
        stages.sort_unstable_by_key(|&stage| stage as u32);
        stages.dedup();
        // A module with one stage is one shader.
        if stages.len() > 1 { stages } else { Vec::new() }
    }

    fn options(&self) -> &'static [DriverOption] {
        OPTIONS
    }

    fn limits(&self) -> &'static [LimitInfo] {
        Limits::TABLE
    }

    fn error_codes(&self) -> Vec<ErrorCode> {
        SpirvError::CODES.to_vec()
    }

    fn explanations(&self) -> &'static str {
        crate::EXPLANATIONS
    }

    fn reader(&self, options: &[&str]) -> Result<Box<dyn Reader>, UnknownOption> {
        let mut reader = SpirvReader { options: SpirvOptions::default(), stage: None };
        for option in options {
            reader.set(option)?;
        }
        Ok(Box::new(reader))
    }
}

/// The front end with its options set.
#[derive(Clone, Debug)]
struct SpirvReader {
    options: SpirvOptions,
    stage: Option<ShaderStage>,
}

/// The bits of a number as it is written: an integer, a float with a point or exponent, or bits in hexadecimal.
fn bits(text: &str) -> Option<u64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    if let Some(digits) = digits.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().filter(|_| !negative);
    }
    match text {
        "true" => return Some(1),
        "false" => return Some(0),
        _ => {}
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some(number as u64);
    }
    if let Ok(number) = text.parse::<u64>() {
        return Some(number);
    }
    // The width is not known here; constants of other widths are given as bits.
    text.parse::<f32>().ok().map(|number| number.to_bits().into())
}

impl SpirvReader {
    fn set(&mut self, option: &str) -> Result<(), UnknownOption> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let problem = |problem: String| UnknownOption { problem: Some(problem), ..UnknownOption::new(name, OPTIONS) };
        let numbers = |value: &str| -> Option<Vec<u32>> { value.split(':').map(|part| part.parse().ok()).collect() };
        let is_set = |problem: &dyn Fn(String) -> UnknownOption| match value {
            "" | "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(problem(format!("`{name}` is on or off: `{name}=true`, `{name}=false`"))),
        };
        match name {
            "stage" => {
                self.stage = ShaderStage::ALL.iter().find(|stage| stage.name().eq_ignore_ascii_case(value)).copied();
                if self.stage.is_none() {
                    return Err(problem(format!("`{value}` is not a stage; there are vertex, fragment and so on")));
                }
            }
            "entry" => self.options.entry = Some(value.to_owned()),
            "spec" => {
                let parsed = value.split_once(':').and_then(|(id, value)| Some((id.parse().ok()?, bits(value)?)));
                let parsed = parsed.ok_or_else(|| problem(format!("`{option}` is not `spec=NUMBER:VALUE`")))?;
                self.options.specialization.push(parsed);
            }
            "bind" => {
                let (kind, rest) = value.split_once(':').unwrap_or((value, ""));
                let kind = match kind {
                    "constant" => BindKind::Constant,
                    "buffer" => BindKind::Buffer,
                    "image" => BindKind::Image,
                    "unit" => BindKind::Unit,
                    _ => return Err(problem(format!("`{kind}` is not constant, buffer, image or unit"))),
                };
                let Some(&[set, binding, register]) = numbers(rest).as_deref() else {
                    return Err(problem(format!("`{option}` is not `bind=KIND:SET:BINDING:NUMBER`")));
                };
                self.options.binds.push(Bind { kind, set, binding, register });
            }
            "count" => {
                let Some(&[set, binding, length]) = numbers(value).as_deref() else {
                    return Err(problem(format!("`{option}` is not `count=SET:BINDING:LENGTH`")));
                };
                self.options.counts.push((set, binding, length));
            }
            "environment" => {
                self.options.environment = Some(match value {
                    "vulkan" => Environment::Vulkan,
                    "opengl" => Environment::OpenGl,
                    "tgsic" => Environment::Tgsic,
                    _ => return Err(problem(format!("`{value}` is not vulkan, opengl or tgsic"))),
                });
            }
            "flat" => self.options.flat = is_set(&problem)?,
            "separate" => self.options.separate = is_set(&problem)?,
            "flip-y" => self.options.flip_y = is_set(&problem)?,
            "depth" => {
                self.options.depth = match value {
                    "zero-to-one" => Depth::ZeroToOne,
                    "minus-one-to-one" => Depth::MinusOneToOne,
                    _ => return Err(problem(format!("`{value}` is not zero-to-one or minus-one-to-one"))),
                };
            }
            "tess-origin" => {
                self.options.tess_lower_left = match value {
                    "upper-left" => false,
                    "lower-left" => true,
                    _ => return Err(problem(format!("`{value}` is not upper-left or lower-left"))),
                };
            }
            _ => return Err(UnknownOption::new(name, OPTIONS)),
        }
        Ok(())
    }
}

impl Reader for SpirvReader {
    fn read(&self, bytes: &[u8], request: &ReadRequest<'_>) -> Reading {
        let mut options = self.options.clone();
        let limits = request.limits;
        options.limits.words = options.limits.words.min(limits.text_bytes / 4);
        options.limits.nesting = options.limits.nesting.min(u32::try_from(limits.nesting).unwrap_or(u32::MAX));
        let Compiled { module, findings } = compile(bytes, request.stage.or(self.stage), &options);
        let Some(module) = module else { return Reading::new(None, findings) };
        let start = Some(Span::new(0, u32::from(!bytes.is_empty())));
        let source = Source::Ir(Cow::Owned(module.shader), SourceMap::new(start, module.origins));
        Reading { interface: module.interface, ..Reading::new(Some(source), findings) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_recognized_in_both_byte_orders() {
        assert_eq!(SPIRV.recognize(&[0x03, 0x02, 0x23, 0x07]), Recognition::Certain);
        assert_eq!(SPIRV.recognize(&[0x07, 0x23, 0x02, 0x03]), Recognition::Certain);
        assert_eq!(SPIRV.recognize(b"FRAG"), Recognition::No);
    }

    #[test]
    fn values_of_constants_are_numbers_or_bits() {
        assert_eq!(bits("3"), Some(3));
        assert_eq!(bits("-1"), Some(u64::MAX));
        assert_eq!(bits("0.5"), Some(0x3f00_0000));
        assert_eq!(bits("0x10"), Some(16));
        assert_eq!(bits("true"), Some(1));
        assert_eq!(bits("x"), None);
    }
}
