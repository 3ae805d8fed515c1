//! The limits of virgl hosts on declarations. Beyond them they close the connection, or write outside their tables.

use tgsi::Shader;
use tgsi::shader::Declaration;
use tgsi::tables::File;

/// The way in which declarations of a file are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Count {
    /// The number of declarations.
    Declarations,
    /// One past the highest unit or buffer declared.
    Units,
}

/// A limit.
struct Limit {
    file: File,
    count: Count,
    most: u32,
    /// The counted objects, for messages.
    what: &'static str,
}

const fn limit(file: File, count: Count, most: u32, what: &'static str) -> Limit {
    Limit { file, count, most, what }
}

/// The limits. Immediates are checked in the finished code.
const LIMITS: [Limit; 8] = [
    limit(File::Input, Count::Declarations, 64, "declarations of IN"),
    limit(File::Output, Count::Declarations, 64, "declarations of OUT"),
    limit(File::SystemValue, Count::Declarations, 32, "declarations of SV"),
    limit(File::Constant, Count::Units, 32, "constant buffers"),
    limit(File::Sampler, Count::Units, 32, "samplers"),
    limit(File::SamplerView, Count::Units, 32, "sampler views"),
    limit(File::Image, Count::Units, 32, "images"),
    limit(File::Buffer, Count::Units, 32, "buffers"),
];

/// A declaration that exceeds a limit of hosts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LimitExcess<'a> {
    pub(crate) declaration: &'a Declaration,
    pub(crate) most: u32,
    pub(crate) what: &'static str,
}

/// The first declaration of each file that exceeds a limit of hosts.
pub(crate) fn excesses(shader: &Shader) -> impl Iterator<Item = LimitExcess<'_>> {
    LIMITS.iter().filter_map(|limit| {
        let declarations = shader.declarations.iter().filter(|d| d.file == limit.file && d.first <= d.last);
        let mut numbered = (1u32..).zip(declarations);
        let found = numbered.find(|(number, d)| {
            let used = match limit.count {
                Count::Declarations => *number,
                Count::Units if d.file == File::Constant => u32::from(d.dimension.unwrap_or(0)) + 1,
                Count::Units => u32::from(d.last) + 1,
            };
            used > limit.most
        });
        found.map(|(_, declaration)| LimitExcess { declaration, most: limit.most, what: limit.what })
    })
}
