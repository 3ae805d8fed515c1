//! The room that hosts of virgl have for declarations. Beyond it they close the connection, or write beside their
//! tables.

use tgsi::Shader;
use tgsi::shader::Declaration;
use tgsi::tables::File;

/// How declarations of a file are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Count {
    /// Their number.
    Declarations,
    /// The highest unit or buffer, which they name, and one.
    Units,
}

/// A limit.
struct Limit {
    file: File,
    count: Count,
    most: u32,
    /// What is counted, in a sentence.
    what: &'static str,
}

const fn limit(file: File, count: Count, most: u32, what: &'static str) -> Limit {
    Limit { file, count, most, what }
}

/// The limits. Those of immediates are known only of the finished code.
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

/// A declaration that hosts have no room for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Excess<'a> {
    pub(crate) declaration: &'a Declaration,
    pub(crate) most: u32,
    pub(crate) what: &'static str,
}

/// The declarations that hosts have no room for, of each file the first.
pub(crate) fn excesses(shader: &Shader) -> impl Iterator<Item = Excess<'_>> {
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
        found.map(|(_, declaration)| Excess { declaration, most: limit.most, what: limit.what })
    })
}
