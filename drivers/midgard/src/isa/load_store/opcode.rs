//! The opcodes of load/store instructions.

/// The kind of an opcode, which decides on the use of fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// A colour is unpacked from the format that the offset states.
    Unpack,
    /// A colour is packed to the format that the offset states.
    Pack,
    /// An address of memory is a result.
    Address,
    /// An address of an image is a result.
    ImageAddress,
    /// A direction is converted to coordinates of a cube.
    Cubemap,
    /// A register is copied.
    Move,
    /// Components are divided.
    Project,
    /// An atomic operation on memory.
    Atomic,
    /// An atomic exchange with a comparison.
    CompareExchange,
    /// A load from memory.
    Load,
    /// A store to memory.
    Store,
    /// A load of uniforms from a buffer.
    Uniform,
    /// A load of an attribute.
    Attribute,
    /// A load of a varying.
    Varying,
    /// A store of a varying.
    StoreVarying,
    /// A load of a texel.
    Image,
    /// A store of a texel.
    StoreImage,
    /// A load or store of a special value, which the index selects.
    Special,
    /// A load or store of the tile buffer.
    TileBuffer,
    /// A trap.
    Trap,
}

impl Class {
    /// Whether the register of the instruction is read, and not written. For special values and the tile buffer this is
    /// not known.
    pub fn is_store(self) -> bool {
        matches!(self, Class::Store | Class::StoreVarying | Class::StoreImage)
    }

    /// Whether the fields state an address of memory.
    pub fn has_address(self) -> bool {
        matches!(self, Class::Address | Class::Atomic | Class::CompareExchange | Class::Load | Class::Store)
    }

    /// Whether the fields state an entry of the attribute tables.
    pub fn has_attribute(self) -> bool {
        self.is_image() || matches!(self, Class::Attribute | Class::Varying | Class::StoreVarying)
    }

    /// Whether the opcode belongs to images.
    pub fn is_image(self) -> bool {
        matches!(self, Class::ImageAddress | Class::Image | Class::StoreImage)
    }

    /// Whether the opcode is an atomic operation.
    pub fn is_atomic(self) -> bool {
        matches!(self, Class::Atomic | Class::CompareExchange)
    }

    /// Whether the opcode converts a register, without access to memory.
    pub fn is_conversion(self) -> bool {
        use Class::{Address, Cubemap, ImageAddress, Move, Pack, Project, Unpack};
        matches!(self, Unpack | Pack | Address | ImageAddress | Cubemap | Move | Project)
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct LoadStoreRow {
    /// The opcode.
    pub op: LoadStoreOp,
    /// The number.
    pub code: u8,
    /// The name in listings.
    pub name: &'static str,
    /// The kind.
    pub class: Class,
}

macro_rules! opcodes {
    ($($variant:ident $code:literal $name:literal $class:ident $description:literal;)*) => {
        /// An opcode.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum LoadStoreOp {
            $(#[doc = $description] $variant = $code,)*
        }

        const TABLE: &[LoadStoreRow] = &[$(LoadStoreRow {
            op: LoadStoreOp::$variant,
            code: $code,
            name: $name,
            class: Class::$class,
        }),*];

        impl LoadStoreOp {
            /// Returns the opcode with a number.
            pub fn from_code(code: u32) -> Option<LoadStoreOp> {
                match code {
                    $($code => Some(LoadStoreOp::$variant),)*
                    _ => None,
                }
            }

            /// Returns the row of the table.
            pub fn row(self) -> &'static LoadStoreRow {
                match self {
                    $(LoadStoreOp::$variant => const { &TABLE[index_of($code)] },)*
                }
            }
        }
    };
}

/// The index of the row with a number.
const fn index_of(code: u8) -> usize {
    let mut index = 0;
    while TABLE[index].code != code {
        index += 1;
    }
    index
}

// Variant, number, name, class, description.
opcodes! {
    UnpackF32 0x04 "UNPACK.f32" Unpack "Converts a colour from a format of memory to 32-bit floats.";
    UnpackF16 0x05 "UNPACK.f16" Unpack "Converts a colour from a format of memory to 16-bit floats.";
    UnpackU32 0x06 "UNPACK.u32" Unpack "Converts a colour from a format of memory to unsigned integers.";
    UnpackS32 0x07 "UNPACK.s32" Unpack "Converts a colour from a format of memory to signed integers.";
    PackF32 0x08 "PACK.f32" Pack "Converts a colour from 32-bit floats to a format of memory.";
    PackF16 0x09 "PACK.f16" Pack "Converts a colour from 16-bit floats to a format of memory.";
    PackU32 0x0a "PACK.u32" Pack "Converts a colour from unsigned integers to a format of memory.";
    PackS32 0x0b "PACK.s32" Pack "Converts a colour from signed integers to a format of memory.";
    Lea 0x0c "LEA" Address "The address of an access.";
    LeaImage 0x0d "LEA_IMAGE" ImageAddress "The address of a texel.";
    Cubemap 0x0e "CUBEMAP" Cubemap "Coordinates of a cube's face from a direction.";
    Move 0x10 "LDST_MOV" Move "Copies a register.";
    PerspectiveDivY 0x11 "LDST_PERSPECTIVE_DIV_Y" Project "Divides all components by y.";
    PerspectiveDivZ 0x12 "LDST_PERSPECTIVE_DIV_Z" Project "Divides all components by z.";
    PerspectiveDivW 0x13 "LDST_PERSPECTIVE_DIV_W" Project "Divides all components by w.";
    AtomicAdd 0x40 "AADD.32" Atomic "Adds, 32 bits.";
    AtomicAdd64 0x41 "AADD.64" Atomic "Adds, 64 bits.";
    AtomicAddBe 0x42 "AADD.32.be" Atomic "Adds, 32 bits, big-endian.";
    AtomicAdd64Be 0x43 "AADD.64.be" Atomic "Adds, 64 bits, big-endian.";
    AtomicAnd 0x44 "AAND.32" Atomic "Applies a bitwise and, 32 bits.";
    AtomicAnd64 0x45 "AAND.64" Atomic "Applies a bitwise and, 64 bits.";
    AtomicAndBe 0x46 "AAND.32.be" Atomic "Applies a bitwise and, 32 bits, big-endian.";
    AtomicAnd64Be 0x47 "AAND.64.be" Atomic "Applies a bitwise and, 64 bits, big-endian.";
    AtomicOr 0x48 "AOR.32" Atomic "Applies a bitwise or, 32 bits.";
    AtomicOr64 0x49 "AOR.64" Atomic "Applies a bitwise or, 64 bits.";
    AtomicOrBe 0x4a "AOR.32.be" Atomic "Applies a bitwise or, 32 bits, big-endian.";
    AtomicOr64Be 0x4b "AOR.64.be" Atomic "Applies a bitwise or, 64 bits, big-endian.";
    AtomicXor 0x4c "AXOR.32" Atomic "Applies an exclusive or, 32 bits.";
    AtomicXor64 0x4d "AXOR.64" Atomic "Applies an exclusive or, 64 bits.";
    AtomicXorBe 0x4e "AXOR.32.be" Atomic "Applies an exclusive or, 32 bits, big-endian.";
    AtomicXor64Be 0x4f "AXOR.64.be" Atomic "Applies an exclusive or, 64 bits, big-endian.";
    AtomicImin 0x50 "AMIN.s32" Atomic "Takes the minimum, signed, 32 bits.";
    AtomicImin64 0x51 "AMIN.s64" Atomic "Takes the minimum, signed, 64 bits.";
    AtomicIminBe 0x52 "AMIN.s32.be" Atomic "Takes the minimum, signed, 32 bits, big-endian.";
    AtomicImin64Be 0x53 "AMIN.s64.be" Atomic "Takes the minimum, signed, 64 bits, big-endian.";
    AtomicUmin 0x54 "AMIN.u32" Atomic "Takes the minimum, unsigned, 32 bits.";
    AtomicUmin64 0x55 "AMIN.u64" Atomic "Takes the minimum, unsigned, 64 bits.";
    AtomicUminBe 0x56 "AMIN.u32.be" Atomic "Takes the minimum, unsigned, 32 bits, big-endian.";
    AtomicUmin64Be 0x57 "AMIN.u64.be" Atomic "Takes the minimum, unsigned, 64 bits, big-endian.";
    AtomicImax 0x58 "AMAX.s32" Atomic "Takes the maximum, signed, 32 bits.";
    AtomicImax64 0x59 "AMAX.s64" Atomic "Takes the maximum, signed, 64 bits.";
    AtomicImaxBe 0x5a "AMAX.s32.be" Atomic "Takes the maximum, signed, 32 bits, big-endian.";
    AtomicImax64Be 0x5b "AMAX.s64.be" Atomic "Takes the maximum, signed, 64 bits, big-endian.";
    AtomicUmax 0x5c "AMAX.u32" Atomic "Takes the maximum, unsigned, 32 bits.";
    AtomicUmax64 0x5d "AMAX.u64" Atomic "Takes the maximum, unsigned, 64 bits.";
    AtomicUmaxBe 0x5e "AMAX.u32.be" Atomic "Takes the maximum, unsigned, 32 bits, big-endian.";
    AtomicUmax64Be 0x5f "AMAX.u64.be" Atomic "Takes the maximum, unsigned, 64 bits, big-endian.";
    AtomicXchg 0x60 "XCHG.32" Atomic "Exchanges, 32 bits.";
    AtomicXchg64 0x61 "XCHG.64" Atomic "Exchanges, 64 bits.";
    AtomicXchgBe 0x62 "XCHG.32.be" Atomic "Exchanges, 32 bits, big-endian.";
    AtomicXchg64Be 0x63 "XCHG.64.be" Atomic "Exchanges, 64 bits, big-endian.";
    AtomicCmpxchg 0x64 "CMPXCHG.32" CompareExchange "Exchanges if equal, 32 bits.";
    AtomicCmpxchg64 0x65 "CMPXCHG.64" CompareExchange "Exchanges if equal, 64 bits.";
    AtomicCmpxchgBe 0x66 "CMPXCHG.32.be" CompareExchange "Exchanges if equal, 32 bits, big-endian.";
    AtomicCmpxchg64Be 0x67 "CMPXCHG.64.be" CompareExchange "Exchanges if equal, 64 bits, big-endian.";
    LdU8 0x80 "LD.u8" Load "Loads memory: 8 bits, unsigned.";
    LdI8 0x81 "LD.s8" Load "Loads memory: 8 bits, signed.";
    LdU16 0x84 "LD.u16" Load "Loads memory: 16 bits, unsigned.";
    LdI16 0x85 "LD.s16" Load "Loads memory: 16 bits, signed.";
    LdU16Be 0x86 "LD.u16.be" Load "Loads memory: 16 bits, unsigned, big-endian.";
    LdI16Be 0x87 "LD.s16.be" Load "Loads memory: 16 bits, signed, big-endian.";
    Ld32 0x88 "LD.32" Load "Loads memory: 32 bits.";
    Ld32Bswap2 0x89 "LD.32.bswap2" Load "Loads memory: 32 bits, in big-endian units of 2 bytes.";
    Ld32Bswap4 0x8a "LD.32.bswap4" Load "Loads memory: 32 bits, in big-endian units of 4 bytes.";
    Ld64 0x8c "LD.64" Load "Loads memory: 64 bits.";
    Ld64Bswap2 0x8d "LD.64.bswap2" Load "Loads memory: 64 bits, in big-endian units of 2 bytes.";
    Ld64Bswap4 0x8e "LD.64.bswap4" Load "Loads memory: 64 bits, in big-endian units of 4 bytes.";
    Ld64Bswap8 0x8f "LD.64.bswap8" Load "Loads memory: 64 bits, in big-endian units of 8 bytes.";
    Ld128 0x90 "LD.128" Load "Loads memory: 128 bits.";
    Ld128Bswap2 0x91 "LD.128.bswap2" Load "Loads memory: 128 bits, in big-endian units of 2 bytes.";
    Ld128Bswap4 0x92 "LD.128.bswap4" Load "Loads memory: 128 bits, in big-endian units of 4 bytes.";
    Ld128Bswap8 0x93 "LD.128.bswap8" Load "Loads memory: 128 bits, in big-endian units of 8 bytes.";
    LdAttrF32 0x94 "LD_ATTR.f32" Attribute "Loads an attribute: 32-bit floats.";
    LdAttrF16 0x95 "LD_ATTR.f16" Attribute "Loads an attribute: 16-bit floats.";
    LdAttrU32 0x96 "LD_ATTR.u32" Attribute "Loads an attribute: unsigned integers.";
    LdAttrS32 0x97 "LD_ATTR.s32" Attribute "Loads an attribute: signed integers.";
    LdVaryF32 0x98 "LD_VARY.f32" Varying "Loads a varying: 32-bit floats.";
    LdVaryF16 0x99 "LD_VARY.f16" Varying "Loads a varying: 16-bit floats.";
    LdVaryU32 0x9a "LD_VARY.u32" Varying "Loads a varying: unsigned integers.";
    LdVaryS32 0x9b "LD_VARY.s32" Varying "Loads a varying: signed integers.";
    LdSpecialF32 0x9c "LD_SPECIAL.f32" Special "Loads a special value: 32-bit floats.";
    LdSpecialF16 0x9d "LD_SPECIAL.f16" Special "Loads a special value: 16-bit floats.";
    LdSpecialU32 0x9e "LD_SPECIAL.u32" Special "Loads a special value: unsigned integers.";
    LdSpecialS32 0x9f "LD_SPECIAL.s32" Special "Loads a special value: signed integers.";
    LdUboU8 0xa0 "LD_UBO.u8" Uniform "Loads uniforms: 8 bits, unsigned.";
    LdUboI8 0xa1 "LD_UBO.s8" Uniform "Loads uniforms: 8 bits, signed.";
    LdUboU16 0xa4 "LD_UBO.u16" Uniform "Loads uniforms: 16 bits, unsigned.";
    LdUboI16 0xa5 "LD_UBO.s16" Uniform "Loads uniforms: 16 bits, signed.";
    LdUboU16Be 0xa6 "LD_UBO.u16.be" Uniform "Loads uniforms: 16 bits, unsigned, big-endian.";
    LdUboI16Be 0xa7 "LD_UBO.s16.be" Uniform "Loads uniforms: 16 bits, signed, big-endian.";
    LdUbo32 0xa8 "LD_UBO.32" Uniform "Loads uniforms: 32 bits.";
    LdUbo32Bswap2 0xa9 "LD_UBO.32.bswap2" Uniform "Loads uniforms: 32 bits, in big-endian units of 2 bytes.";
    LdUbo32Bswap4 0xaa "LD_UBO.32.bswap4" Uniform "Loads uniforms: 32 bits, in big-endian units of 4 bytes.";
    LdUbo64 0xac "LD_UBO.64" Uniform "Loads uniforms: 64 bits.";
    LdUbo64Bswap2 0xad "LD_UBO.64.bswap2" Uniform "Loads uniforms: 64 bits, in big-endian units of 2 bytes.";
    LdUbo64Bswap4 0xae "LD_UBO.64.bswap4" Uniform "Loads uniforms: 64 bits, in big-endian units of 4 bytes.";
    LdUbo64Bswap8 0xaf "LD_UBO.64.bswap8" Uniform "Loads uniforms: 64 bits, in big-endian units of 8 bytes.";
    LdUbo128 0xb0 "LD_UBO.128" Uniform "Loads uniforms: 128 bits.";
    LdUbo128Bswap2 0xb1 "LD_UBO.128.bswap2" Uniform "Loads uniforms: 128 bits, in big-endian units of 2 bytes.";
    LdUbo128Bswap4 0xb2 "LD_UBO.128.bswap4" Uniform "Loads uniforms: 128 bits, in big-endian units of 4 bytes.";
    LdUbo128Bswap8 0xb3 "LD_UBO.128.bswap8" Uniform "Loads uniforms: 128 bits, in big-endian units of 8 bytes.";
    LdImageF32 0xb4 "LD_IMAGE.f32" Image "Loads a texel: 32-bit floats.";
    LdImageF16 0xb5 "LD_IMAGE.f16" Image "Loads a texel: 16-bit floats.";
    LdImageU32 0xb6 "LD_IMAGE.u32" Image "Loads a texel: unsigned integers.";
    LdImageS32 0xb7 "LD_IMAGE.s32" Image "Loads a texel: signed integers.";
    LdTileBufferF32 0xb8 "LD_TILEBUFFER.f32" TileBuffer "Loads a colour of the tile buffer: 32-bit floats.";
    LdTileBufferF16 0xb9 "LD_TILEBUFFER.f16" TileBuffer "Loads a colour of the tile buffer: 16-bit floats.";
    LdTileBufferRaw 0xba "LD_TILEBUFFER.raw" TileBuffer "Loads a colour of the tile buffer: bits.";
    StU8 0xc0 "ST.u8" Store "Stores memory: 8 bits, unsigned.";
    StI8 0xc1 "ST.s8" Store "Stores memory: 8 bits, signed.";
    StU16 0xc4 "ST.u16" Store "Stores memory: 16 bits, unsigned.";
    StI16 0xc5 "ST.s16" Store "Stores memory: 16 bits, signed.";
    StU16Be 0xc6 "ST.u16.be" Store "Stores memory: 16 bits, unsigned, big-endian.";
    StI16Be 0xc7 "ST.s16.be" Store "Stores memory: 16 bits, signed, big-endian.";
    St32 0xc8 "ST.32" Store "Stores memory: 32 bits.";
    St32Bswap2 0xc9 "ST.32.bswap2" Store "Stores memory: 32 bits, in big-endian units of 2 bytes.";
    St32Bswap4 0xca "ST.32.bswap4" Store "Stores memory: 32 bits, in big-endian units of 4 bytes.";
    St64 0xcc "ST.64" Store "Stores memory: 64 bits.";
    St64Bswap2 0xcd "ST.64.bswap2" Store "Stores memory: 64 bits, in big-endian units of 2 bytes.";
    St64Bswap4 0xce "ST.64.bswap4" Store "Stores memory: 64 bits, in big-endian units of 4 bytes.";
    St64Bswap8 0xcf "ST.64.bswap8" Store "Stores memory: 64 bits, in big-endian units of 8 bytes.";
    St128 0xd0 "ST.128" Store "Stores memory: 128 bits.";
    St128Bswap2 0xd1 "ST.128.bswap2" Store "Stores memory: 128 bits, in big-endian units of 2 bytes.";
    St128Bswap4 0xd2 "ST.128.bswap4" Store "Stores memory: 128 bits, in big-endian units of 4 bytes.";
    St128Bswap8 0xd3 "ST.128.bswap8" Store "Stores memory: 128 bits, in big-endian units of 8 bytes.";
    StVaryF32 0xd4 "ST_VARY.f32" StoreVarying "Stores a varying: 32-bit floats.";
    StVaryF16 0xd5 "ST_VARY.f16" StoreVarying "Stores a varying: 16-bit floats.";
    StVaryU32 0xd6 "ST_VARY.u32" StoreVarying "Stores a varying: unsigned integers.";
    StVaryS32 0xd7 "ST_VARY.s32" StoreVarying "Stores a varying: signed integers.";
    StImageF32 0xd8 "ST_IMAGE.f32" StoreImage "Stores a texel: 32-bit floats.";
    StImageF16 0xd9 "ST_IMAGE.f16" StoreImage "Stores a texel: 16-bit floats.";
    StImageU32 0xda "ST_IMAGE.u32" StoreImage "Stores a texel: unsigned integers.";
    StImageS32 0xdb "ST_IMAGE.s32" StoreImage "Stores a texel: signed integers.";
    StSpecialF32 0xdc "ST_SPECIAL.f32" Special "Stores a special value: 32-bit floats.";
    StSpecialF16 0xdd "ST_SPECIAL.f16" Special "Stores a special value: 16-bit floats.";
    StSpecialU32 0xde "ST_SPECIAL.u32" Special "Stores a special value: unsigned integers.";
    StSpecialS32 0xdf "ST_SPECIAL.s32" Special "Stores a special value: signed integers.";
    StTileBufferF32 0xe8 "ST_TILEBUFFER.f32" TileBuffer "Stores a colour of the tile buffer: 32-bit floats.";
    StTileBufferF16 0xe9 "ST_TILEBUFFER.f16" TileBuffer "Stores a colour of the tile buffer: 16-bit floats.";
    StTileBufferRaw 0xea "ST_TILEBUFFER.raw" TileBuffer "Stores a colour of the tile buffer: bits.";
    Trap 0xfc "ldst_op_FC" Trap "A trap.";
}

impl LoadStoreOp {
    /// All rows of the table, in the order of the numbers.
    pub fn table() -> &'static [LoadStoreRow] {
        TABLE
    }
}
