//! Messages as text.

use super::line::Line;
use crate::isa::SharedFunction;

/// The bits `high` to `low` of a descriptor.
fn get(descriptor: u32, high: u32, low: u32) -> u32 {
    descriptor >> low & ((1 << (high - low + 1)) - 1)
}

/// The surface, an index of the binding table.
fn surface(descriptor: u32) -> u32 {
    get(descriptor, 7, 0)
}

/// The writer of the fields of a message.
struct Fields<'l> {
    line: &'l mut Line,
    /// Whether a space precedes the next name.
    space: bool,
}

impl Fields<'_> {
    /// Appends the name of a value, or a remark if it has none. Empty names are omitted.
    fn name(&mut self, kind: &str, names: &[(u32, &str)], value: u32) {
        match names.iter().find(|(number, _)| *number == value) {
            None => self.line.put_uncounted(&format!("*** invalid {kind} value {value} ")),
            Some((_, "")) => {}
            Some((_, name)) => {
                if self.space {
                    self.line.put(" ");
                }
                self.line.put(name);
                self.space = true;
            }
        }
    }

    fn put(&mut self, text: &str) {
        self.line.put(text);
    }
}

const SAMPLER: &[(u32, &str)] = &[
    (0, "sample"),
    (1, "sample_b"),
    (2, "sample_l"),
    (3, "sample_c"),
    (4, "sample_d"),
    (5, "sample_b_c"),
    (6, "sample_l_c"),
    (7, "ld"),
    (8, "gather4"),
    (9, "lod"),
    (10, "resinfo"),
    (11, "sampleinfo"),
    (16, "gather4_c"),
    (17, "gather4_po"),
    (18, "gather4_po_c"),
    (20, "sample_d_c"),
    (29, "ld_mcs"),
    (30, "ld2dms"),
    (31, "ld2dss"),
];

const SIMD_MODE: &[(u32, &str)] = &[(0, "SIMD4x2"), (1, "SIMD8"), (2, "SIMD16"), (3, "SIMD32/64")];

const URB: &[(u32, &str)] = &[
    (0, "write HWord"),
    (1, "write OWord"),
    (2, "read HWord"),
    (3, "read OWord"),
    (4, "atomic mov"),
    (5, "atomic inc"),
    (6, "atomic add"),
    (7, "SIMD8 write"),
];

const GATEWAY: &[(u32, &str)] = &[
    (0, "open"),
    (1, "close"),
    (2, "forward msg"),
    (3, "get timestamp"),
    (4, "barrier msg"),
    (5, "update state"),
    (6, "mmio read/write"),
];

const RENDER: &[(u32, &str)] = &[
    (4, "media block read"),
    (5, "typed surface read"),
    (6, "typed atomic op"),
    (7, "memory fence"),
    (10, "media block write"),
    (RENDER_TARGET_WRITE, "RT write"),
    (13, "typed surface write"),
];

/// The message that writes to a render target.
const RENDER_TARGET_WRITE: u32 = 12;

const RENDER_TARGET: &[(u32, &str)] = &[
    (0, "SIMD16"),
    (1, "SIMD16/RepData"),
    (2, "SIMD8/DualSrcLow"),
    (3, "SIMD8/DualSrcHigh"),
    (4, "SIMD8"),
    (5, "SIMD8/ImageWrite"),
    (7, "SIMD16/RepData-111"),
];

const DATA: &[(u32, &str)] = &[
    (0, "DC OWORD block read"),
    (1, "DC unaligned OWORD block read"),
    (2, "DC OWORD dual block read"),
    (3, "DC DWORD scattered read"),
    (4, "DC byte scattered read"),
    (5, "DC untyped surface read"),
    (6, "DC untyped atomic"),
    (7, "DC mfence"),
    (8, "DC OWORD block write"),
    (10, "DC OWORD dual block write"),
    (11, "DC DWORD scatterd write"),
    (12, "DC byte scattered write"),
    (13, "DC untyped surface write"),
];

const DATA_1: &[(u32, &str)] = &[
    (1, "untyped surface read"),
    (2, "DC untyped atomic op"),
    (3, "DC untyped 4x2 atomic op"),
    (4, "DC media block read"),
    (5, "DC typed surface read"),
    (6, "DC typed atomic"),
    (7, "DC typed 4x2 atomic op"),
    (9, "DC untyped surface write"),
    (10, "DC media block write"),
    (11, "DC atomic counter op"),
    (12, "DC 4x2 atomic counter op"),
    (13, "DC typed surface write"),
];

const ATOMIC: &[(u32, &str)] = &[
    (1, "and"),
    (2, "or"),
    (3, "xor"),
    (4, "mov"),
    (5, "inc"),
    (6, "dec"),
    (7, "add"),
    (8, "sub"),
    (9, "revsub"),
    (10, "imax"),
    (11, "imin"),
    (12, "umax"),
    (13, "umin"),
    (14, "cmpwr"),
    (15, "predec"),
];

const BLOCK: &[(u32, &str)] = &[(0, "1-low"), (1, "1-high"), (2, "2"), (3, "4"), (4, "8")];

const INTERPOLATION: [&str; 4] = ["per_message_offset", "sample_position", "centroid", "per_slot_offset"];

/// Appends the fields of a constant descriptor.
pub(super) fn descriptor(line: &mut Line, function: SharedFunction, descriptor: u32, has_space: bool) {
    let fields = &mut Fields { line, space: has_space };
    let d = descriptor;
    match function {
        SharedFunction::Sampler => {
            fields.name("sampler message", SAMPLER, get(d, 16, 12));
            fields.name("sampler simd mode", SIMD_MODE, get(d, 18, 17));
            fields.put(&format!(" Surface = {} Sampler = {}", surface(d), get(d, 11, 8)));
        }
        SharedFunction::SamplerCache | SharedFunction::ConstantCache => fields.put(&format!(
            " (bti {}, msg_ctrl {}, msg_type {}, write_commit 0)",
            surface(d),
            get(d, 13, 8),
            get(d, 17, 14)
        )),
        SharedFunction::RenderCache => render(fields, d),
        SharedFunction::Urb => {
            fields.put(&format!(" offset {}", get(d, 13, 3)));
            fields.space = true;
            let opcode = get(d, 2, 0);
            fields.name("urb opcode", URB, opcode);
            if get(d, 16, 16) != 0 {
                fields.put(" per-slot");
            }
            if opcode == 7 {
                if get(d, 15, 15) != 0 {
                    fields.put(" masked");
                }
            } else {
                fields.name("urb swizzle", &[(0, ""), (1, "interleave")], get(d, 14, 14));
            }
            fields.name("urb complete", &[(0, ""), (1, "complete")], get(d, 15, 15));
        }
        SharedFunction::ThreadSpawner => {}
        SharedFunction::Gateway => {
            let value = get(d, 2, 0);
            let name = GATEWAY.iter().find(|(number, _)| *number == value).map_or("(null)", |(_, name)| name);
            fields.put(&format!(" ({name})"));
        }
        SharedFunction::DataCache => data(fields, d),
        SharedFunction::DataCache1 => data_1(fields, d),
        SharedFunction::PixelInterpolator => {
            let kind = if get(d, 14, 14) != 0 { "linear" } else { "persp" };
            let place = INTERPOLATION[get(d, 13, 12) as usize];
            fields.put(&format!(" ({kind}, {place}, 0x{:02x})", get(d, 7, 0)));
        }
        SharedFunction::Null | SharedFunction::Math | SharedFunction::Cre => {
            fields.put(&format!("unsupported shared function ID {}", function.code()));
        }
    }
    if fields.space {
        fields.put(" ");
    }
}

fn render(fields: &mut Fields<'_>, d: u32) {
    let message = get(d, 17, 14);
    fields.name("DP rc message type", RENDER, message);
    if message == RENDER_TARGET_WRITE {
        fields.name("RT message type", RENDER_TARGET, get(d, 10, 8));
        if get(d, 11, 11) != 0 {
            fields.put(" Hi");
        }
        if get(d, 12, 12) != 0 {
            fields.put(" LastRT");
        }
    } else {
        fields.put(&format!(" MsgCtrl = 0x{}", get(d, 13, 8)));
    }
    fields.put(&format!(" Surface = {}", surface(d)));
}

fn data(fields: &mut Fields<'_>, d: u32) {
    fields.put(" (");
    fields.space = false;
    let (message, control) = (get(d, 17, 14), get(d, 13, 8));
    fields.name("DP DC0 message type", DATA, message);
    fields.put(&format!(", bti {}, ", surface(d)));
    match message {
        6 => fields.name("atomic op", ATOMIC, control & 15),
        0 | 8 => {
            let count = BLOCK.iter().find(|(number, _)| *number == control & 7).map_or("(null)", |(_, name)| name);
            fields.put(&format!("owords = {count}, aligned = {}", control >> 3 & 3));
        }
        _ => fields.put(&control.to_string()),
    }
    fields.put(")");
}

fn data_1(fields: &mut Fields<'_>, d: u32) {
    fields.put(" (");
    fields.space = false;
    let (message, control) = (get(d, 17, 14), get(d, 13, 8));
    fields.name("DP DC1 message type", DATA_1, message);
    fields.put(&format!(", Surface = {}, ", surface(d)));
    match message {
        2 | 6 | 11 => {
            fields.put(&format!("SIMD{},", if control & 16 != 0 { 8 } else { 16 }));
            fields.name("atomic op", ATOMIC, control & 15);
        }
        3 | 7 | 12 => fields.name("atomic op", ATOMIC, control & 15),
        1 | 5 | 9 | 13 => {
            let mode = ["4x2", "16", "8", "(null)"][(control >> 4) as usize];
            fields.put(&format!("SIMD{mode}, Mask = 0x{:x}", control & 15));
        }
        _ => fields.put(&format!("0x{control:x}")),
    }
    fields.put(")");
}
