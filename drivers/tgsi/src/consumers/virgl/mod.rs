//! The requirements of virgl hosts (virglrenderer 0.10) on code, beyond TGSI's.
//!
//! The host reads text with an old parser and prints GLSL from the tokens, a statement for each instruction, with every
//! `TEMP` a `vec4` of floats and casts chosen by opcode. Its interpretation of some operands differs from TGSI, so
//! these are restricted:
//!
//! | construct | restriction |
//! |---|---|
//! | modifiers | not on operands of integers; not on system values and on integer inputs, where they are dropped |
//! | results other than floats | written to outputs by a `MOV` |
//! | `CLIPVERTEX`, `CLIPDIST`, `COLOR`, `BCOLOR` before the rasteriser | written whole |
//! | `COLOR` of fragments | written by opcodes with results converted by their bits, unless the source does otherwise |
//! | `TESSOUTER`, `TESSINNER` | written one component at a time |
//! | `NOT`, `INEG`, `BREV`, `POPC`, `LSB`, `IMSB`, `UMSB` | ignore the write mask: one component, or the first ones |
//! | `IBFE`, `UBFE`, `BFI` | the same, and use offset and width of x for all: these must be equal |
//! | opcodes of doubles | one result at a time, from x and y or z and w of `TEMP`s and `CONST`s ([`doubles`]) |
//! | system values | only in opcodes of their type, some only in a `MOV` to a `TEMP` |
//! | reads of `CLIPDIST`, `TESSOUTER`, `TESSINNER` | may be shorter than a swizzle: unused letters repeat a used one |
//! | `ADDR` | x only; `ADDR[0]` for indices, `ADDR[1]` for vertices and buffers, `ADDR[2]` for resources |
//! | immediates | no coordinates of lookups; floats only if eight digits represent them exactly |
//! | `CONT`, and unknown opcodes | not used; an error if there is no alternative |
//!
//! Three parts ensure it. Selection addresses registers and copies system values accordingly. `passes::legalize_virgl`
//! rewrites the selected program before any other pass. [`rules`] defines the allowed instructions, and the passes over
//! the selected program create no others. `emit::finish_virgl` adapts and checks the whole shader at the end.
//!
//! [`limits`] has the maximum number of declarations; `passes::lower_continues` replaces `CONT`.
//!
//! `emit::interface` preserves declarations and properties, so that linked shaders still match; [`reading`] interprets
//! text as the host does.

pub(crate) mod doubles;
pub(crate) mod limits;
pub(crate) mod reading;
pub(crate) mod rules;
