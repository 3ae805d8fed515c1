//! The demands of virgl's hosts (virglrenderer 0.10) on code, beyond TGSI's.
//!
//! The host reads texts with an old parser and prints GLSL from the tokens, a statement for each instruction, with
//! every `TEMP` a `vec4` of floats and casts chosen by opcode. What it makes of some operands is not what TGSI says,
//! so these are not used:
//!
//! | | |
//! |---|---|
//! | modifiers | on operands of integers; on system values and on inputs that are no floats, where they are dropped |
//! | results that are no floats | go to outputs by a `MOV` |
//! | `CLIPVERTEX`, `CLIPDIST`, `COLOR`, `BCOLOR` before the rasterizer | written whole |
//! | `COLOR` of fragments | written by opcodes whose result is converted by its bits, unless the source does otherwise |
//! | `TESSOUTER`, `TESSINNER` | written one component at a time |
//! | `NOT`, `INEG`, `BREV`, `POPC`, `LSB`, `IMSB`, `UMSB` | know no write mask: one component, or the first ones |
//! | `IBFE`, `UBFE`, `BFI` | the same, and take offset and width of x for all: these are one |
//! | opcodes of doubles | one result at a time, of x and y or z and w of `TEMP`s and `CONST`s ([`doubles`]) |
//! | system values | only in opcodes of their type, some only in a `MOV` to a `TEMP` |
//! | `CLIPDIST`, `TESSOUTER`, `TESSINNER` that are read | maybe shorter than a swizzle: letters that do not count name an element that does |
//! | `ADDR` | x alone; `ADDR[0]` for indices, `ADDR[1]` for vertices and buffers, `ADDR[2]` for resources |
//! | immediates | no coordinates of lookups; floats only if eight digits say them |
//! | `CONT`, and opcodes that it does not know | not used; an error if there is nothing else |
//!
//! Three parts see to it. Selection addresses registers and copies system values so. `passes::legalize_virgl`
//! rewrites what was selected, before any pass looks at it. [`rules`] say what is allowed, and the passes over the
//! selected program make nothing else. `emit::finish_virgl` has the last word on the whole shader.
//!
//! [`limits`] has the declarations that they have room for; `passes::lower_continues` replaces `CONT`.
//!
//! `emit::interface` keeps declarations and properties as they were, so that shaders that are linked still match;
//! [`reading`] takes texts as the host does.

pub(crate) mod doubles;
pub(crate) mod limits;
pub(crate) mod reading;
pub(crate) mod rules;
