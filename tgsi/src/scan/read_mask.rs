//! The channels of a source that an instruction reads.
//!
//! There are two variants. [`read_channels`] is the traditional one (the usage masks of the scan are computed from it);
//! it is conservative for some opcodes. [`needed_channels`] is the smallest set on which the result depends, for
//! register allocation and dead channel elimination. Both return channels before the swizzle; [`read_mask`] and
//! [`needed_mask`] return the register components after it. Neither omits a channel that the executors of this crate
//! read: where Mesa's `tgsi_scan.c` does (the sample index of multisampled images, half pairs of 64-bit operands), the
//! channel is added.

use crate::shader::Instruction;
use crate::tables::{File, Opcode, OutputMode, TextureTarget};

const X: u8 = 1;
const Y: u8 = 2;
const Z: u8 = 4;
const W: u8 = 8;
const XY: u8 = X | Y;
const XYZ: u8 = X | Y | Z;
const XYZW: u8 = 0xf;

/// Returns the components of the register of source `source` that `instruction` reads (after the swizzle, bit 0 = x),
/// or 0 if there is no such source.
pub fn read_mask(instruction: &Instruction, source: usize) -> u8 {
    through_swizzle(instruction, source, read_channels(instruction, source))
}

/// Returns the components of the register of source `source` on which the result depends (after the swizzle). A subset
/// of `read_mask`.
pub fn needed_mask(instruction: &Instruction, source: usize) -> u8 {
    through_swizzle(instruction, source, needed_channels(instruction, source))
}

fn through_swizzle(instruction: &Instruction, source: usize, channels: u8) -> u8 {
    let Some(src) = instruction.src.get(source) else { return 0 };
    src.swizzle.iter().enumerate().filter(|&(c, _)| channels & 1 << c != 0).fold(0, |mask, (_, &s)| mask | 1 << (s & 3))
}

/// Returns the channels of source `source` that `instruction` reads, before the swizzle.
pub fn read_channels(instruction: &Instruction, source: usize) -> u8 {
    use Opcode::*;
    let written = instruction.dst.first().map_or(0, |d| d.write_mask & XYZW);
    match instruction.opcode {
        If | Uif | Emit | Endprim | Rcp | Rsq | Sqrt | Ex2 | Lg2 | Sin | Cos | Pow | Up2h | Up2us | Up4b | Up4ub
        | Membar | Ballot => X,
        Dp2 | Pk2h | Pk2us | F2d | I2d | U2d | F2u64 | F2i64 | U2i64 | I2i64 | Txqs | Resq => XY,
        Txq => {
            if source == 0 {
                X
            } else {
                XY
            }
        }
        Dp3 => XYZ,
        Dp4 | Pk4b | Pk4ub | Dseq | Dsne | Dslt | Dsge | D2f | D2i | D2u | I2f | U2f | U64seq | U64sne | U64slt
        | U64sge | I64slt | I64sge | U642f | I642f => XYZW,
        Lit => {
            if written & (Y | Z) != 0 {
                X | Y | W
            } else {
                0
            }
        }
        Exp | Log => {
            if written & XYZ != 0 {
                X
            } else {
                0
            }
        }
        Dst => {
            if source == 0 {
                Y | Z
            } else {
                Y | W
            }
        }
        Dldexp => {
            if source == 0 {
                pairs(written)
            } else {
                pair_counts(written)
            }
        }
        ReadInvoc => {
            if source == 0 {
                written
            } else {
                X
            }
        }
        Fbfetch => 0,
        InterpCentroid | InterpSample | InterpOffset => match (source, instruction.opcode) {
            (0, _) => written,
            (_, InterpOffset) => XY,
            _ => X,
        },
        Load => {
            if source == 0 {
                XY
            } else {
                image_coordinates(instruction)
            }
        }
        Store => {
            if source == 0 {
                image_coordinates(instruction)
            } else {
                XYZW
            }
        }
        Atomuadd | Atomxchg | Atomcas | Atomand | Atomor | Atomxor | Atomumin | Atomumax | Atomimin | Atomimax
        | Atomfadd => match source {
            0 => XY,
            1 => image_coordinates(instruction),
            _ => XYZW,
        },
        Tex | TexLz | Txp | Txb | Txl | Txf | TxfLz | Txd | Tex2 | Txb2 | Txl2 | Tg4 | Lodq => {
            texture_channels(instruction, source)
        }
        opcode => match opcode.info().output_mode {
            OutputMode::Componentwise if reads_pairs(opcode) => pairs(written),
            OutputMode::Componentwise => written,
            _ => XYZW,
        },
    }
}

/// Returns the channels of source `source` on which the effect of `instruction` depends, before the swizzle.
pub fn needed_channels(instruction: &Instruction, source: usize) -> u8 {
    use Opcode::*;
    let written = instruction.dst.first().map_or(0, |d| d.write_mask & XYZW);
    let when = |condition: bool, channels: u8| if condition { channels } else { 0 };
    match instruction.opcode {
        Rcp | Rsq | Sqrt | Ex2 | Lg2 | Sin | Cos | Pow | Dp2 | Dp3 | Dp4 | Pk2h | Pk2us | Pk4b | Pk4ub | Up2h
        | Up2us | Up4b | Up4ub | Ballot
            if written == 0 =>
        {
            0
        }
        I2f | U2f => written,
        F2d | I2d | U2d | F2u64 | F2i64 | U2i64 | I2i64 => when(written & XY != 0, X) | when(written & (Z | W) != 0, Y),
        Dseq | Dsne | Dslt | Dsge | U64seq | U64sne | U64slt | U64sge | I64slt | I64sge => pairs(written),
        // The lowest enabled channel takes the first pair, the next one the second.
        D2f | D2i | D2u | U642f | I642f => when(written != 0, XY) | when(written.count_ones() > 1, Z | W),
        U64shl | I64shr | U64shr if source == 1 => pair_counts(written),
        Lit => when(written & (Y | Z) != 0, X) | when(written & Z != 0, Y | W),
        Dst if source == 0 => when(written & Y != 0, Y) | when(written & Z != 0, Z),
        Dst => when(written & Y != 0, Y) | when(written & W != 0, W),
        Switch | Case => X,
        Store if source == 1 => match instruction.dst.first().map(|d| d.register.file) {
            // Image stores write the whole texel, whatever the mask is.
            Some(File::Buffer | File::Memory) => written,
            _ => XYZW,
        },
        Atomuadd | Atomxchg | Atomcas | Atomand | Atomor | Atomxor | Atomumin | Atomumax | Atomimin | Atomimax
        | Atomfadd | AtomincWrap | AtomdecWrap
            if source >= 2 =>
        {
            X
        }
        AtomincWrap | AtomdecWrap => match source {
            0 => XY,
            _ => image_coordinates(instruction),
        },
        _ => read_channels(instruction, source),
    }
}

/// Whether an opcode reads channel pairs and writes those selected by the write mask.
fn reads_pairs(opcode: Opcode) -> bool {
    opcode.info().src_types.first().is_some_and(|t| t.is_64bit())
}

/// Returns both channels of every pair that has a channel in `mask`.
const fn pairs(mask: u8) -> u8 {
    (if mask & XY != 0 { XY } else { 0 }) | (if mask & (Z | W) != 0 { Z | W } else { 0 })
}

/// Returns the first channel of every pair that has a channel in `mask`.
const fn pair_counts(mask: u8) -> u8 {
    pairs(mask) & (X | Z)
}

/// Returns the channels of the coordinate operand of a memory instruction.
fn image_coordinates(instruction: &Instruction) -> u8 {
    let Some(memory) = instruction.memory else {
        let resource = if instruction.opcode == Opcode::Store {
            instruction.dst.first().map(|d| d.register.file)
        } else {
            instruction.src.first().map(|s| s.register.file)
        };
        // Without a memory word the target of an image is only known from its declaration.
        return if resource == Some(File::Image) { XYZW } else { X };
    };
    let sample = if memory.target.is_msaa() { W } else { 0 };
    ((1u8 << memory.target.coordinate_components()) - 1) | sample
}

/// Returns the channels of a source of the texture opcodes that name a target.
fn texture_channels(instruction: &Instruction, source: usize) -> u8 {
    use Opcode::*;
    let opcode = instruction.opcode;
    let Some(target) = instruction.texture.as_ref().map(|t| t.target) else { return XYZW };
    match (opcode, source) {
        (Lodq, 0) => coordinates_without_layer(target),
        (Txf | Txb | Txl | Txp, 0) => coordinates(target) | W,
        (_, 0) => coordinates(target),
        // The reference value of this target does not fit into the coordinates; with a bias or a level there are two
        // additional values.
        (Txb2 | Txl2, 1) if target == TextureTarget::ShadowCubeArray => XY,
        (Tex2 | Txb2 | Txl2 | Tg4, 1) => X,
        (Txd, 1 | 2) => coordinates_without_layer(target),
        // The sampler, which may be a bindless handle.
        _ => XY,
    }
}

fn coordinates(target: TextureTarget) -> u8 {
    use TextureTarget::*;
    match target {
        Buffer | Texture1D => X,
        Texture1DArray | Texture2D | Rect | Texture2DMsaa => XY,
        Texture3D | Cube | Texture2DArray | Texture2DArrayMsaa | Shadow2D | ShadowRect | Shadow1DArray => XYZ,
        Shadow1D => X | Z,
        CubeArray | ShadowCube | Shadow2DArray | ShadowCubeArray | Unknown => XYZW,
    }
}

fn coordinates_without_layer(target: TextureTarget) -> u8 {
    use TextureTarget::*;
    match target {
        Buffer | Texture1D | Texture1DArray | Shadow1D | Shadow1DArray => X,
        Texture2D | Rect | Texture2DMsaa | Texture2DArray | Texture2DArrayMsaa | Shadow2D | ShadowRect
        | Shadow2DArray => XY,
        Texture3D | Cube | CubeArray | ShadowCube | ShadowCubeArray => XYZ,
        Unknown => XYZW,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::{Dst as DstOperand, InstructionMemory, InstructionTexture, Register, Src};
    use crate::tables::ReturnType;

    fn instruction(opcode: Opcode, write_mask: u8) -> Instruction {
        let mut i = Instruction::new(opcode);
        let info = opcode.info();
        if info.num_dst == 1 {
            i.dst.push(DstOperand::new(Register::new(File::Temporary, 0)).masked(write_mask));
        }
        for s in 0..info.num_src {
            i.src.push(Src::new(Register::new(File::Temporary, s as i32 + 1)));
        }
        i
    }

    fn textured(opcode: Opcode, target: TextureTarget) -> Instruction {
        let texture = InstructionTexture { target, return_type: ReturnType::Unknown, offsets: Default::default() };
        Instruction { texture: Some(Box::new(texture)), ..instruction(opcode, XYZW) }
    }

    fn memory(opcode: Opcode, target: TextureTarget) -> Instruction {
        let word = InstructionMemory { target, ..Default::default() };
        Instruction { memory: Some(word), ..instruction(opcode, X) }
    }

    /// The table of channels, opcode by opcode.
    #[test]
    fn channels_of_opcodes() {
        use Opcode::*;
        let rows: &[(Opcode, u8, usize, u8, u8)] = &[
            (If, 0, 0, X, X),
            (Rcp, XYZW, 0, X, X),
            (Rcp, 0, 0, X, 0),
            (Dp2, X, 1, XY, XY),
            (Dp3, X, 0, XYZ, XYZ),
            (Dp4, W, 0, XYZW, XYZW),
            (F2d, Z | W, 0, XY, Y),
            (D2f, Z, 0, XYZW, XY),
            (D2f, X | W, 0, XYZW, XYZW),
            (I2f, Y, 0, XYZW, Y),
            (Dslt, X, 1, XYZW, XY),
            (Lit, X | W, 0, 0, 0),
            (Lit, Y, 0, X | Y | W, X),
            (Lit, Z, 0, X | Y | W, X | Y | W),
            (Exp, W, 0, 0, 0),
            (Log, Z | W, 0, X, X),
            (Dst, XYZW, 0, Y | Z, Y | Z),
            (Dst, X | W, 1, Y | W, W),
            (Dldexp, Z | W, 1, Z, Z),
            (U64shl, Z | W, 1, Z | W, Z),
            (Dadd, Y, 0, XY, XY),
            (ReadInvoc, Y, 0, Y, Y),
            (ReadInvoc, Y, 1, X, X),
            (Fbfetch, XYZW, 0, 0, 0),
            (InterpOffset, Z, 0, Z, Z),
            (InterpOffset, Z, 1, XY, XY),
            (InterpSample, Z, 1, X, X),
            (Mov, X | Z, 0, X | Z, X | Z),
            (Mad, Y, 2, Y, Y),
            (KillIf, 0, 0, XYZW, XYZW),
            (Switch, 0, 0, XYZW, X),
            (Sample, X, 0, XYZW, XYZW),
            (Mov, X, 1, X, X),
        ];
        for &(opcode, mask, source, read, needed) in rows {
            let i = instruction(opcode, mask);
            assert_eq!(read_channels(&i, source), read, "{opcode} {mask:x} {source} read");
            assert_eq!(needed_channels(&i, source), needed, "{opcode} {mask:x} {source} needed");
        }
        assert_eq!(read_mask(&instruction(Mov, X), 1), 0, "no such source");
    }

    #[test]
    fn channels_of_textures() {
        use Opcode::*;
        use TextureTarget::*;
        let rows: &[(Opcode, TextureTarget, usize, u8)] = &[
            (Tex, Texture2D, 0, XY),
            (Tex, Texture2D, 1, XY),
            (Txp, Texture2D, 0, X | Y | W),
            (Txf, Texture2DMsaa, 0, X | Y | W),
            (Tex, Shadow1D, 0, X | Z),
            (Tex, ShadowCube, 0, XYZW),
            (Lodq, CubeArray, 0, XYZ),
            (Lodq, Texture2DArray, 0, XY),
            (Txd, Texture2DArray, 0, XYZ),
            (Txd, Texture2DArray, 2, XY),
            (Txd, Texture2DArray, 3, XY),
            (Tex2, ShadowCubeArray, 1, X),
            (Txb2, ShadowCubeArray, 1, XY),
            (Tg4, Texture2D, 1, X),
            (Txq, Texture2D, 0, X),
            (Txqs, Texture2DMsaa, 0, XY),
        ];
        for &(opcode, target, source, read) in rows {
            assert_eq!(read_channels(&textured(opcode, target), source), read, "{opcode} {target} {source}");
        }
    }

    #[test]
    fn channels_of_memory() {
        use Opcode::*;
        use TextureTarget::*;
        let rows: &[(Opcode, TextureTarget, usize, u8, u8)] = &[
            (Load, Buffer, 0, XY, XY),
            (Load, Buffer, 1, X, X),
            (Load, Texture2DArray, 1, XYZ, XYZ),
            // The sample index is in w.
            (Load, Texture2DMsaa, 1, X | Y | W, X | Y | W),
            (Store, Texture2D, 0, XY, XY),
            (Store, Texture2D, 1, XYZW, XYZW),
            (Atomcas, CubeArray, 1, XYZW, XYZW),
            (Atomcas, Buffer, 3, XYZW, X),
            (AtomincWrap, Texture1D, 1, XYZW, X),
        ];
        for &(opcode, target, source, read, needed) in rows {
            let i = memory(opcode, target);
            assert_eq!(read_channels(&i, source), read, "{opcode} {target} {source} read");
            assert_eq!(needed_channels(&i, source), needed, "{opcode} {target} {source} needed");
        }
        let mut store = memory(Store, Buffer);
        store.dst[0].register.file = File::Buffer;
        assert_eq!((read_channels(&store, 1), needed_channels(&store, 1)), (XYZW, X));
        let mut atomic = instruction(Atomfadd, X);
        assert_eq!(read_channels(&atomic, 1), X);
        atomic.src[0].register.file = File::Image;
        assert_eq!(read_channels(&atomic, 1), XYZW, "target unknown");
    }

    #[test]
    fn swizzle_is_applied() {
        let mut i = instruction(Opcode::Mov, X | Y);
        i.src[0].swizzle = [3, 3, 0, 1];
        assert_eq!(read_mask(&i, 0), W);
        i.dst[0].write_mask = X | Z;
        assert_eq!(needed_mask(&i, 0), X | W);
    }

    #[test]
    fn needed_is_never_more_than_read() {
        for &opcode in Opcode::ALL {
            for mask in 0..16 {
                let i = instruction(opcode, mask);
                for source in 0..i.src.len() {
                    let (read, needed) = (read_channels(&i, source), needed_channels(&i, source));
                    assert_eq!(needed & !read, 0, "{opcode} {mask:x} {source}");
                }
            }
        }
    }
}
