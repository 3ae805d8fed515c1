//! Messages of vec4 programs.

use tgsi_vec4::simple::Info;

/// A message to a shared function, without its payload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Message {
    /// A vector of a constant buffer. The source has the number of the vector in x, for each vertex.
    Constant {
        /// The surface, by its place in the binding table.
        surface: u8,
    },
    /// A vector of the scratch space. The source has its number in x, for each vertex.
    ScratchRead,
    /// Stores a vector. Sources: the number, the vector.
    ScratchWrite {
        /// The components stored.
        mask: u8,
    },
}

impl Message {
    /// The facts that passes need.
    pub fn info(self) -> Info {
        // A response has all components, as write masks do not concern messages.
        let response = |reads: [u8; 4]| Info { stores_whole: true, ..Info::fixed(reads) };
        match self {
            Message::Constant { .. } => response([0b0001, 0, 0, 0]),
            // Reads must not move across stores.
            Message::ScratchRead => Info { has_effect: true, ..response([0b0001, 0, 0, 0]) },
            Message::ScratchWrite { mask } => Info { has_effect: true, ..Info::fixed([0b0001, mask, 0, 0]) },
        }
    }
}

impl Message {
    /// Registers of the payload outside of the sources.
    pub fn payload_registers(self) -> u8 {
        match self {
            Message::Constant { .. } => 1,
            Message::ScratchRead => 2,
            Message::ScratchWrite { .. } => 3,
        }
    }
}
