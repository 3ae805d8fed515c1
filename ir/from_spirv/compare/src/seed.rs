//! Contents of resources and inputs from a seed.

use tgsi_environment::Random;
use tgsi_spirv_vulkan::native::{
    Attribute, Block, BoundContents, Content, ImageType, Kind, LeafClass, NativeInterface, NativeStage, Picture,
    PictureShape, SamplerState, TexelFormat, TexelKind, VaryingValue, Work,
};

/// Vertices of a vertex shader.
pub const VERTICES: u32 = 16;
/// Width and height of drawings.
pub const SIZE: (u32, u32) = (16, 16);
/// Levels of textures.
const LEVELS: u32 = 4;
/// Most bytes of a resource.
const MAX_BYTES: u32 = 1 << 22;
/// Elements of run-time arrays, at least.
const MIN_ELEMENTS: u32 = 64;
/// Most invocations of a compute shader.
const MAX_INVOCATIONS: u32 = 4096;
/// Capabilities that runs do not support: kernels and addresses, other shading stages, 64-bit images, sparse images,
/// subgroups, whose size differs between executors, and device-dependent clocks.
const UNSUPPORTED: [(u32, &str); 20] = [
    (6, "kernels"),
    (41, "sparse residency"),
    (61, "subgroups"),
    (62, "subgroups"),
    (63, "subgroups"),
    (64, "subgroups"),
    (65, "subgroups"),
    (66, "subgroups"),
    (67, "subgroups"),
    (68, "subgroups"),
    (4423, "subgroups"),
    (4431, "subgroups"),
    (4437, "device groups"),
    (4439, "views"),
    (4422, "shading rates"),
    (5055, "clocks"),
    (5345, "memory addresses"),
    (5347, "memory addresses"),
    (40, "input attachments"),
    (5265, "stencil export"),
];

/// The inputs of a run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Push constants.
    pub push: Vec<u8>,
    /// Contents of resources.
    pub bindings: Vec<BoundContents>,
    /// Work.
    pub work: Work,
}

impl Setup {
    /// Chooses all contents.
    ///
    /// # Errors
    /// Features that runs do not support.
    pub fn new(interface: &NativeInterface, seed: u64) -> Result<Setup, String> {
        let unsupported = UNSUPPORTED.iter().find(|(capability, _)| interface.capabilities.contains(capability));
        if let Some((_, name)) = unsupported {
            return Err((*name).to_owned());
        }
        let mut choices = Choices { random: Random::new(seed), levels: LEVELS, is_small: seed.is_multiple_of(2) };
        let work = match interface.stage {
            NativeStage::Compute(size) => {
                let invocations = size.iter().copied().fold(1, u32::saturating_mul);
                if !(1..=1024).contains(&invocations) {
                    return Err("large workgroups".to_owned());
                }
                let groups = if invocations * 2 <= MAX_INVOCATIONS { [2, 1, 1] } else { [1, 1, 1] };
                Work::Groups(groups)
            }
            NativeStage::Vertex => Work::Vertices { count: VERTICES, attributes: choices.attributes(interface)? },
            NativeStage::Fragment => Work::Pixels { size: SIZE, varyings: choices.varyings(interface)? },
            NativeStage::Other(model) => return Err(format!("execution model {model}")),
        };
        let elements = match (&work, interface.stage) {
            (Work::Groups(groups), NativeStage::Compute(size)) => {
                (groups[0] * size.iter().product::<u32>()).max(MIN_ELEMENTS)
            }
            _ => SIZE.0 * SIZE.1,
        };
        // Textures that are compared are declared so, or else no texture is.
        let compares = |image: &ImageType| image.is_depth;
        let has_comparisons = interface.opcodes.iter().any(|op| matches!(op, 89 | 90 | 93 | 94 | 97));
        // Devices approximate the level of an implicit lookup.
        choices.levels = if interface.opcodes.iter().any(|op| matches!(op, 87 | 89 | 91 | 93)) { 1 } else { LEVELS };
        let mut bindings = Vec::new();
        for resource in &interface.resources {
            let mut contents = Vec::new();
            for _ in 0..resource.count {
                contents.push(match &resource.kind {
                    Kind::Uniform(block) => Content::Uniform(choices.block(block, 0)?),
                    Kind::Storage(block) => Content::Storage(choices.block(block, elements)?),
                    Kind::Sampler if has_comparisons => return Err("separate samplers that compare".to_owned()),
                    Kind::Sampler => Content::Sampler(SamplerState::default()),
                    Kind::Texture(image) => Content::Texture(choices.picture(image, false)?),
                    Kind::Combined(image) => {
                        if has_comparisons && !compares(image) {
                            return Err("textures of unknown kind that are compared".to_owned());
                        }
                        let state = SamplerState { compares: compares(image) };
                        Content::Combined(choices.picture(image, false)?, state)
                    }
                    Kind::Image(image) => Content::Image(choices.picture(image, true)?),
                });
            }
            bindings.push(BoundContents { set: resource.set, binding: resource.binding, contents });
        }
        let push = match &interface.push {
            Some(block) => choices.block(block, 0)?,
            None => Vec::new(),
        };
        Ok(Setup { push, bindings, work })
    }
}

/// Random values: small integers, and floats with few bits, so that sums and products are exact.
struct Choices {
    random: Random,
    /// Levels of textures.
    levels: u32,
    /// Whether integers are below 3, and floats positive: mostly valid indices and divisors. That of even seeds.
    is_small: bool,
}

impl Choices {
    fn below(&mut self, bound: u64) -> u64 {
        self.random.bits() % bound
    }

    fn float(&mut self) -> f32 {
        if self.is_small {
            return (self.below(16) + 1) as f32 / 4.0;
        }
        match self.below(6) {
            0 => 0.0,
            1 => 1.0,
            _ => (self.below(25) as f32 - 8.0) / 4.0,
        }
    }

    /// The bits of a number.
    fn number(&mut self, class: LeafClass, bits: u32) -> u64 {
        match (class, bits) {
            (LeafClass::Float, 64) => f64::from(self.float()).to_bits(),
            // Multiples of a quarter up to 4 have few bits in halves, too.
            (LeafClass::Float, 16) => u64::from(half(self.float())),
            (LeafClass::Float, _) => u64::from(self.float().to_bits()),
            _ if self.is_small => self.below(3),
            (LeafClass::Int, _) if self.below(8) == 0 => (self.below(5) as i64 - 4) as u64,
            _ => self.below(9),
        }
    }

    fn block(&mut self, block: &Block, elements: u32) -> Result<Vec<u8>, String> {
        let elements = match block.stride {
            0 => 0,
            stride => elements.min(MAX_BYTES / stride),
        };
        let size = block.size_with(elements);
        if size > MAX_BYTES {
            return Err("a large block".to_owned());
        }
        let mut bytes = vec![0; size.next_multiple_of(4).max(4) as usize];
        for leaf in block.leaves_with(elements) {
            let number = self.number(leaf.class, leaf.bits).to_le_bytes();
            let count = (leaf.bits / 8) as usize;
            if let Some(place) = bytes.get_mut(leaf.offset as usize..leaf.offset as usize + count) {
                place.copy_from_slice(&number[..count]);
            }
        }
        Ok(bytes)
    }

    fn picture(&mut self, image: &ImageType, is_storage: bool) -> Result<Picture, String> {
        if image.is_multisampled {
            return Err("multisampled textures".to_owned());
        }
        let format = match (is_storage, image.is_depth && image.class == LeafClass::Float) {
            (true, _) if image.format != 0 => {
                TexelFormat::of_number(image.format).ok_or_else(|| format!("images of format {}", image.format))?
            }
            (false, true) => TexelFormat { kind: TexelKind::Depth, channels: 1, bits: 32 },
            _ => TexelFormat::of_class(image.class),
        };
        if format.bits == 16 {
            return Err("images of halves".to_owned());
        }
        // Images contain most coordinates that shaders use.
        let side = if is_storage { 16 } else { 8 };
        let (shape, size) = match image.dim {
            0 => (PictureShape::D1, [side, 1, 1]),
            1 => (PictureShape::D2, [side, side, 1]),
            2 => (PictureShape::D3, [side, side, 4]),
            3 => (PictureShape::Cube, [side, side, 1]),
            5 => (PictureShape::Buffer, [64, 1, 1]),
            dim => return Err(format!("images of dimension {dim}")),
        };
        let layers = if image.is_array { 3 } else { 1 };
        let levels = if is_storage || shape == PictureShape::Buffer { 1 } else { self.levels };
        let mut picture = Picture { shape, is_array: image.is_array, format, size, layers, levels, bytes: Vec::new() };
        let count = picture.byte_count();
        while picture.bytes.len() < count {
            match (format.kind, format.bits) {
                (TexelKind::Float, _) => {
                    let value = self.float();
                    picture.bytes.extend(value.to_le_bytes());
                }
                (TexelKind::Depth, _) => {
                    let value = self.below(9) as f32 / 8.0;
                    picture.bytes.extend(value.to_le_bytes());
                }
                (TexelKind::Uint | TexelKind::Sint, 32) => {
                    let value = self.below(9) as u32;
                    picture.bytes.extend(value.to_le_bytes());
                }
                _ => {
                    let value = self.random.bits() as u8;
                    picture.bytes.push(value);
                }
            }
        }
        Ok(picture)
    }

    fn attributes(&mut self, interface: &NativeInterface) -> Result<Vec<Attribute>, String> {
        let mut attributes: Vec<Attribute> = Vec::new();
        for input in &interface.inputs {
            if input.bits != 32 || input.location >= 32 {
                return Err("inputs of another width".to_owned());
            }
            if let Some(same) = attributes.iter().find(|attribute| attribute.location == input.location) {
                if same.class != input.class {
                    return Err("inputs of several types at a location".to_owned());
                }
                continue;
            }
            let words = (0..VERTICES).map(|_| [(); 4].map(|()| self.number(input.class, 32) as u32)).collect();
            attributes.push(Attribute { location: input.location, class: input.class, words });
        }
        Ok(attributes)
    }

    fn varyings(&mut self, interface: &NativeInterface) -> Result<Vec<VaryingValue>, String> {
        let mut values: Vec<VaryingValue> = Vec::new();
        for input in &interface.inputs {
            if input.bits != 32 {
                return Err("inputs of another width".to_owned());
            }
            let is_plane = input.class == LeafClass::Float && !input.is_flat;
            let same = values.iter().find(|value| value.location == input.location);
            if let Some(value) = same {
                if (value.class, value.words.is_none()) != (input.class, is_plane) {
                    return Err("inputs of several types at a location".to_owned());
                }
                continue;
            }
            let mut planes = [[0.0; 3]; 4];
            let mut words = [0; 4];
            for (plane, word) in planes.iter_mut().zip(&mut words) {
                let slope = |choices: &mut Choices| (choices.below(5) as f32 - 2.0) / 16.0;
                *plane = [self.float(), slope(self), slope(self)];
                *word = self.number(input.class, 32) as u32;
            }
            let words = (!is_plane).then_some(words);
            values.push(VaryingValue { location: input.location, class: input.class, planes, words });
        }
        Ok(values)
    }
}

/// The bits of a half, of a value that is exact in it.
fn half(value: f32) -> u16 {
    if value == 0.0 {
        return 0;
    }
    let bits = value.to_bits();
    let exponent = (bits >> 23 & 0xff) as i32 - 127 + 15;
    (bits >> 16 & 0x8000) as u16 | (exponent.clamp(0, 30) as u16) << 10 | (bits >> 13 & 0x3ff) as u16
}
