//! Tags, which state the kind and the length of bundles.

use super::bits::enumeration;

enumeration! {
    /// The kind of a bundle. Each bundle states its own tag and that of the next, branches that of their target.
    Tag {
        Invalid = 0 "invalid" "Never valid.";
        Break = 1 "break" "As the next tag: the program ends.";
        TextureVertex = 2 "tex/vt" "Texture, in vertex programs.";
        Texture = 3 "tex" "Texture.";
        TextureBarrier = 4 "tex/bar" "Barrier of the texture unit.";
        LoadStore = 5 "ldst" "Two load/store instructions.";
        Unknown6 = 6 "unk1" "Not known.";
        Unknown7 = 7 "unk2" "Not known.";
        Alu4 = 8 "alu/4" "ALU, one quadword.";
        Alu8 = 9 "alu/8" "ALU, two quadwords.";
        Alu12 = 10 "alu/12" "ALU, three quadwords.";
        Alu16 = 11 "alu/16" "ALU, four quadwords.";
        AluWriteout4 = 12 "aluw/4" "ALU with a write-out, one quadword.";
        AluWriteout8 = 13 "aluw/8" "ALU with a write-out, two quadwords.";
        AluWriteout12 = 14 "aluw/12" "ALU with a write-out, three quadwords.";
        AluWriteout16 = 15 "aluw/16" "ALU with a write-out, four quadwords.";
    }
}

impl Tag {
    /// The tag of an ALU bundle with one to four quadwords.
    pub fn alu(quadwords: u32, is_writeout: bool) -> Option<Tag> {
        let first = if is_writeout { Tag::AluWriteout4 } else { Tag::Alu4 };
        (1..=4).contains(&quadwords).then(|| first.code() + quadwords - 1).and_then(Tag::from_code)
    }

    /// Whether the bundle is one of the ALU.
    pub fn is_alu(self) -> bool {
        self.code() >= Tag::Alu4.code()
    }

    /// Whether the bundle is one of the ALU with a write-out.
    pub fn is_writeout(self) -> bool {
        self.code() >= Tag::AluWriteout4.code()
    }

    /// The number of 16-byte words of the bundle, if the tag is that of a known bundle.
    pub fn quadwords(self) -> Option<u32> {
        match self {
            Tag::Invalid | Tag::Break | Tag::Unknown6 | Tag::Unknown7 => None,
            Tag::TextureVertex | Tag::Texture | Tag::TextureBarrier | Tag::LoadStore => Some(1),
            _ => Some(self.code() % 4 + 1),
        }
    }
}
