//! Differences between the results of two runs.

use std::fmt;

use tgsi_spirv_vulkan::native::{Content, Kind, LeafClass, NativeInterface, NativeOutputs, Picture, TexelKind};

/// The relative and absolute error of floats that does not count as a difference.
const RELATIVE: f32 = 1e-3;
const ABSOLUTE: f32 = 1e-4;
/// Exponents of words that are taken for floats, where integers are declared.
const LIKELY_EXPONENTS: std::ops::Range<u32> = 87..167;

/// A difference.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// The place: a word of a buffer or a pixel.
    pub place: String,
    /// Class of the number.
    pub class: LeafClass,
    /// The number of the first run.
    pub expected: u32,
    /// The number of the second one.
    pub found: u32,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { place, expected, found, .. } = self;
        match self.class {
            LeafClass::Float => {
                write!(f, "{place}: {:?} != {:?}", f32::from_bits(*expected), f32::from_bits(*found))
            }
            LeafClass::Int => write!(f, "{place}: {} != {}", *expected as i32, *found as i32),
            LeafClass::Uint => write!(f, "{place}: {expected} != {found}"),
        }
    }
}

/// Whether two numbers are the same: integers to the bit, floats with a small error. All NaN are equal.
fn is_same(class: LeafClass, expected: u32, found: u32) -> bool {
    if expected == found {
        return true;
    }
    let is_float = |word: u32| LIKELY_EXPONENTS.contains(&(word >> 23 & 0xff));
    if class != LeafClass::Float && !(is_float(expected) && is_float(found)) {
        return false;
    }
    let (a, b) = (f32::from_bits(expected), f32::from_bits(found));
    a.is_nan() && b.is_nan() || a == b || (a - b).abs() <= ABSOLUTE + RELATIVE * a.abs().max(b.abs())
}

/// Whether two 64-bit floats are the same, with a small error.
fn is_same_double(expected: &[u8], found: &[u8], offset: u32) -> bool {
    let double = |bytes: &[u8]| {
        let bytes = bytes.get(offset as usize..offset as usize + 8)?;
        bytes.try_into().ok().map(f64::from_le_bytes)
    };
    let (Some(a), Some(b)) = (double(expected), double(found)) else { return false };
    let error = f64::from(ABSOLUTE) + f64::from(RELATIVE) * a.abs().max(b.abs());
    a.is_nan() && b.is_nan() || a == b || (a - b).abs() <= error
}

/// Lists differences of the second run from the first.
pub fn differences(native: &NativeInterface, expected: &NativeOutputs, found: &NativeOutputs) -> Vec<Difference> {
    let mut all = Vec::new();
    for ((a, b), resource) in expected.bindings.iter().zip(&found.bindings).zip(&native.resources) {
        for (element, (before, after)) in a.contents.iter().zip(&b.contents).enumerate() {
            let name = format!("set {} binding {}[{element}]", a.set, a.binding);
            match (before, after, &resource.kind) {
                (Content::Storage(before), Content::Storage(after), Kind::Storage(block)) => {
                    let elements = match block.stride {
                        0 => 0,
                        stride => (before.len() as u32).saturating_sub(block.array_offset) / stride,
                    };
                    for leaf in block.leaves_with(elements) {
                        let words = |bytes: &[u8]| word(bytes, leaf.offset, leaf.bits);
                        if (leaf.class, leaf.bits) == (LeafClass::Float, 64)
                            && is_same_double(before, after, leaf.offset)
                        {
                            continue;
                        }
                        let (a, b) = (words(before), words(after));
                        let class = if leaf.bits == 32 { leaf.class } else { LeafClass::Uint };
                        for (number, (a, b)) in (0..).zip(a.into_iter().zip(b)) {
                            if !is_same(class, a, b) {
                                let place = format!("{name} byte {}", leaf.offset + 4 * number);
                                all.push(Difference { place, class, expected: a, found: b });
                            }
                        }
                    }
                }
                (Content::Image(before), Content::Image(after), _) => pictures(&name, before, after, &mut all),
                _ => {}
            }
        }
    }
    for (a, b) in expected.targets.iter().zip(&found.targets) {
        let components = native.outputs.iter().filter(|output| output.location == a.location);
        let used: Vec<bool> = (0..4)
            .map(|at| components.clone().any(|o| (o.component..o.component + o.components).contains(&at)))
            .collect();
        for (pixel, (before, after)) in a.pixels.iter().zip(&b.pixels).enumerate() {
            for component in (0..4).filter(|&component| used[component]) {
                let (a_word, b_word) = (before[component], after[component]);
                if !is_same(a.class, a_word, b_word) {
                    let (x, y) = (pixel % 16, pixel / 16);
                    let place = format!("output {} pixel ({x}, {y}) component {component}", a.location);
                    all.push(Difference { place, class: a.class, expected: a_word, found: b_word });
                }
            }
        }
    }
    all
}

/// The words of a number; narrow ones are extended by zeros.
fn word(bytes: &[u8], offset: u32, bits: u32) -> Vec<u32> {
    let mut words = Vec::new();
    let count = (bits / 8).max(1);
    let mut at = offset;
    while at < offset + count {
        let length = (offset + count - at).min(4) as usize;
        let mut word = [0; 4];
        if let Some(part) = bytes.get(at as usize..at as usize + length) {
            word[..length].copy_from_slice(part);
        }
        words.push(u32::from_le_bytes(word));
        at += 4;
    }
    words
}

fn pictures(name: &str, before: &Picture, after: &Picture, all: &mut Vec<Difference>) {
    let count = before.format.bits / 8;
    let class = match before.format.kind {
        TexelKind::Sint => LeafClass::Int,
        TexelKind::Float | TexelKind::Depth => LeafClass::Float,
        TexelKind::Uint | TexelKind::Unorm | TexelKind::Snorm => LeafClass::Uint,
    };
    for at in (0..before.bytes.len() as u32).step_by(count as usize) {
        let (a, b) = (word(&before.bytes, at, before.format.bits)[0], word(&after.bytes, at, before.format.bits)[0]);
        // Roundings to a byte may differ by one.
        let is_near = matches!(before.format.kind, TexelKind::Unorm | TexelKind::Snorm) && a.abs_diff(b) <= 1;
        if !is_near && !is_same(class, a, b) {
            all.push(Difference { place: format!("{name} byte {at}"), class, expected: a, found: b });
        }
    }
}
