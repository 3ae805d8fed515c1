//! The resources of a shader: constant buffers, samplers, views, images, buffers and counters, with their declarations
//! and uses. Drivers derive their bindings from this.

use crate::shader::{Declaration, Instruction, Register, Shader};
use crate::tables::{File, Opcode, PixelFormat, ReturnType, TextureTarget};

/// Maximum number of listed bindings per file. No driver supports more, and a declaration may have 65536.
pub(super) const MAX_LISTED_BINDINGS: usize = 128;

/// The listed files, in the order of the list.
const FILES: [File; 7] =
    [File::Constant, File::ConstantBuffer, File::Sampler, File::SamplerView, File::Image, File::Buffer, File::HwAtomic];

/// How instructions use a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ResourceUses {
    /// It is declared.
    pub declared: bool,
    /// Constants are read, textures sampled, memory loaded.
    pub read: bool,
    /// It is stored to.
    pub written: bool,
    /// Atomic operations occur.
    pub atomic: bool,
    /// Its size, levels or samples are queried.
    pub queried: bool,
    /// A run-time index may select it, or a register in it.
    pub indirect: bool,
    /// Declared with `WR`.
    pub writable: bool,
    /// Declared with `RAW`.
    pub raw: bool,
}

/// A resource that a shader declares or uses.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Resource {
    /// The file: constants, samplers, views, images, buffers or counters.
    pub file: File,
    /// The binding number. For constants and counters this is their buffer.
    pub binding: u16,
    /// The first and the last declared constant or counter. None for other files.
    pub declared: Option<(u16, u16)>,
    /// The first and the last constant or counter that instructions read or change: all declared ones if a run-time
    /// index selects them. None for other files.
    pub used: Option<(u16, u16)>,
    /// The texture target: the declared one, or that of the first instruction that uses the resource.
    pub target: TextureTarget,
    /// The return types of a view, per component.
    pub return_types: [ReturnType; 4],
    /// The format of an image: the declared one, or that of the first instruction that uses the image. `NONE` if
    /// neither has one.
    pub format: PixelFormat,
    /// How it is used.
    pub uses: ResourceUses,
}

impl Resource {
    fn new(file: File, binding: usize) -> Resource {
        Resource {
            file,
            binding: binding as u16,
            declared: None,
            used: None,
            target: TextureTarget::Unknown,
            return_types: [ReturnType::Unknown; 4],
            format: PixelFormat::NONE,
            uses: ResourceUses::default(),
        }
    }
}

/// Lists the resources of a shader by file and number.
pub fn resources(shader: &Shader) -> Vec<Resource> {
    let mut list = List::default();
    for declaration in &shader.declarations {
        list.declaration(declaration);
    }
    for instruction in &shader.instructions {
        list.instruction(instruction);
    }
    list.files.into_iter().flatten().flatten().collect()
}

/// The resources of each file in [`FILES`], by number.
#[derive(Default)]
struct List {
    files: [Vec<Option<Resource>>; FILES.len()],
}

/// Whether the buffer of a register of the file is its outer index.
fn has_buffers(file: File) -> bool {
    matches!(file, File::Constant | File::HwAtomic)
}

fn united(range: Option<(u16, u16)>, (first, last): (u16, u16)) -> (u16, u16) {
    range.map_or((first, last), |(low, high)| (low.min(first), high.max(last)))
}

impl List {
    /// Returns the resource with this number, creating it if it is new, or none if its file is not listed or the number
    /// is out of bounds.
    fn resource(&mut self, file: File, binding: usize) -> Option<&mut Resource> {
        let row = FILES.iter().position(|&listed| listed == file)?;
        if binding >= MAX_LISTED_BINDINGS {
            return None;
        }
        let resources = &mut self.files[row];
        if resources.len() <= binding {
            resources.resize(binding + 1, None);
        }
        Some(resources[binding].get_or_insert_with(|| Resource::new(file, binding)))
    }

    fn declaration(&mut self, d: &Declaration) {
        if d.first > d.last {
            return;
        }
        let outer = d.dimension.unwrap_or(0);
        let bindings =
            if has_buffers(d.file) { outer..=outer } else { d.first..=d.last.min(MAX_LISTED_BINDINGS as u16) };
        for binding in bindings {
            let Some(resource) = self.resource(d.file, binding.into()) else { return };
            resource.uses.declared = true;
            if has_buffers(d.file) {
                resource.declared = Some(united(resource.declared, (d.first, d.last)));
            }
            if let Some(view) = d.sampler_view {
                resource.target = view.target;
                resource.return_types = view.return_types;
            }
            if let Some(image) = d.image {
                resource.target = image.target;
                resource.format = image.format;
                resource.uses.writable = image.writable;
                resource.uses.raw = image.raw;
            }
        }
    }

    fn instruction(&mut self, i: &Instruction) {
        let info = i.opcode.info();
        let queries = is_query(i.opcode);
        for (number, src) in i.src.iter().enumerate() {
            let register = &src.register;
            self.used(i, register, |resource| match resource.file {
                _ if queries => resource.uses.queried = true,
                File::Image | File::Buffer | File::HwAtomic if info.is_store => resource.uses.atomic = true,
                _ => resource.uses.read = true,
            });
            // A sampler implies the view with the same number.
            if register.file == File::Sampler && info.is_tex && i.opcode.texture_operands().0 == number {
                let view = Register { file: File::SamplerView, ..*register };
                self.used(i, &view, |view| {
                    view.uses.queried |= queries;
                    view.uses.read |= !queries;
                });
            }
        }
        for dst in &i.dst {
            self.used(i, &dst.register, |resource| resource.uses.written = true);
        }
        for offset in i.texture.iter().flat_map(|texture| &texture.offsets) {
            self.used(i, &Register::new(offset.file, offset.index), |resource| resource.uses.read = true);
        }
        for register in i.registers() {
            let outer = register.dimension.and_then(|dimension| dimension.indirect);
            for index in register.indirect.into_iter().chain(outer) {
                self.used(i, &Register::new(index.file, index.index), |resource| resource.uses.read = true);
            }
        }
    }

    /// Marks all resources that a register of an instruction may refer to.
    fn used(&mut self, i: &Instruction, register: &Register, mark: impl Fn(&mut Resource)) {
        let file = register.file;
        let Some(row) = FILES.iter().position(|&listed| listed == file) else { return };
        let (binding, index) = match has_buffers(file) {
            true => register.dimension.map_or((0, None), |outer| (outer.index, outer.indirect)),
            false => (register.index, register.indirect),
        };
        let bindings = match usize::try_from(binding) {
            _ if index.is_some() => 0..self.files[row].len(),
            Ok(binding) if self.resource(file, binding).is_some() => binding..binding + 1,
            _ => return,
        };
        for resource in self.files[row][bindings].iter_mut().flatten() {
            resource.uses.indirect |= index.is_some() || register.indirect.is_some();
            if has_buffers(file) {
                let inner = u16::try_from(register.index).ok().filter(|_| register.indirect.is_none());
                let range = inner.map(|inner| (inner, inner)).or(resource.declared);
                resource.used = range.map(|range| united(resource.used, range)).or(resource.used);
            }
            if resource.target == TextureTarget::Unknown {
                let target = i.texture.as_ref().map(|texture| texture.target).filter(|_| is_texture(file));
                let target = target.or(i.memory.filter(|_| file == File::Image).map(|memory| memory.target));
                resource.target = target.unwrap_or(TextureTarget::Unknown);
            }
            if let Some(memory) = i.memory.filter(|_| file == File::Image && resource.format == PixelFormat::NONE) {
                resource.format = memory.format;
            }
            mark(resource);
        }
    }
}

fn is_texture(file: File) -> bool {
    matches!(file, File::Sampler | File::SamplerView)
}

/// Whether an opcode queries properties of a resource without reading it.
fn is_query(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, Resq | Txq | Txqs | Lodq | Lod | Sviewinfo | SampleInfo | SamplePos)
}
