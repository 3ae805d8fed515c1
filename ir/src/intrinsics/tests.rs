//! Tests of the table of intrinsics and of the values of their constant indices.

use super::indices::*;
use super::*;
use crate::alu::AluType;
use crate::alu::tests::shared_csv;
use tgsi_environment::SamplerDim;

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn table_agrees_with_the_specification() {
    let rows = shared_csv("ir-intrinsics.csv");
    assert_eq!(rows.len(), IntrinsicOp::COUNT);
    for (row, &op) in rows.iter().zip(IntrinsicOp::ALL) {
        let info = op.info();
        let yes_no = |value: bool| if value { "yes" } else { "no" }.to_owned();
        let components: Vec<String> = info
            .src_components
            .iter()
            .map(|components| match components {
                SrcComponents::Fixed(count) => count.to_string(),
                SrcComponents::NumComponents => "N".to_owned(),
                SrcComponents::Any => "any".to_owned(),
            })
            .collect();
        let found = [
            info.name.to_owned(),
            info.kind.name().to_owned(),
            info.num_srcs().to_string(),
            components.join(" "),
            info.src_roles.join(", "),
            match info.dest_components {
                DestComponents::None => "none".to_owned(),
                DestComponents::Fixed(count) => count.to_string(),
                DestComponents::NumComponents => "N".to_owned(),
            },
            match info.dest_bits {
                DestBits::Any if info.has_dest() => "any".to_owned(),
                DestBits::Any => String::new(),
                DestBits::Sizes(sizes) => sizes.iter().map(u8::to_string).collect::<Vec<_>>().join(" "),
                DestBits::SameAsSource(source) => format!("src{source}"),
            },
            info.indices.iter().map(|index| index.identifier()).collect::<Vec<_>>().join(" "),
            yes_no(info.can_eliminate),
            yes_no(info.can_reorder),
            yes_no(info.is_sysval),
            op.meaning().to_owned(),
        ];
        pretty_assertions::assert_eq!(row[..], found);
    }
}

#[test]
fn rows_are_consistent() {
    for (number, &op) in IntrinsicOp::ALL.iter().enumerate() {
        let info = op.info();
        assert_eq!(op as usize, number);
        assert_eq!(IntrinsicOp::from_name(info.name), Some(op));
        assert!(info.indices.len() <= crate::body::MAX_INDICES, "{op}");
        assert_eq!(info.src_components.len(), info.src_roles.len(), "{op}");
        for (slot, &index) in info.indices.iter().enumerate() {
            assert_eq!(info.index_slot(index), Some(slot), "{op} has {index} twice");
        }
        if let DestBits::SameAsSource(source) = info.dest_bits {
            assert!(usize::from(source) < info.num_srcs(), "{op}");
        }
    }
    assert_eq!(IntrinsicOp::from_name("@load_reg"), None);
}

#[test]
fn every_index_kind_is_used_and_named_once() {
    for &kind in IndexKind::ALL {
        assert_eq!(IndexKind::from_name(kind.name()), Some(kind));
        assert!(IntrinsicOp::ALL.iter().any(|op| op.info().index_slot(kind).is_some()), "{kind}");
    }
    assert_eq!(IndexKind::WriteMask.name(), "wrmask");
    assert_eq!(IndexKind::MemorySemantics.name(), "mem_semantics");
    assert_eq!(IndexKind::MemoryScope.name(), "memory_scope");
}

#[test]
fn shapes() {
    let store = IntrinsicOp::StoreOutput.info();
    assert!(!store.has_dest() && store.is_vectorized());
    assert_eq!(store.index_slot(IndexKind::WriteMask), Some(2));
    assert_eq!(store.index_slot(IndexKind::Access), None);
    assert!(IntrinsicOp::LoadUbo.info().is_vectorized());
    assert!(IntrinsicOp::InverseBallot.info().is_vectorized());
    assert!(!IntrinsicOp::LoadFragCoord.info().is_vectorized());
    assert!(!IntrinsicOp::DeclReg.info().is_vectorized());
}

macro_rules! round_trip {
    ($($enum:ident),*) => {$(
        for &value in $enum::ALL {
            assert_eq!($enum::from_name(value.name()), Some(value));
            assert_eq!($enum::from_i32(value.to_i32()), Some(value));
            assert_eq!(value.to_string(), value.name());
        }
        assert_eq!($enum::from_i32(-1), None);
        assert_eq!($enum::from_i32($enum::ALL.len() as i32), None);
        assert_eq!($enum::from_name("?"), None);
    )*};
}

#[test]
fn enums_round_trip() {
    round_trip!(AtomicOp, SamplerDim, Scope, InterpMode, RoundingMode, DescType);
    assert_eq!(AtomicOp::ALL.len(), 16);
    assert_eq!(AtomicOp::Imax.data_type(), AluType::INT);
    assert_eq!(AtomicOp::Umin.data_type(), AluType::UINT);
    assert_eq!(AtomicOp::Fcmpxchg.data_type(), AluType::FLOAT);
    assert_eq!(SamplerDim::from_name("2D-MSAA"), Some(SamplerDim::Ms));
    assert_eq!(SamplerDim::Ms.to_i32(), 7);
}

#[test]
fn access_is_printed_in_its_own_order() {
    let all = AccessFlags((1 << 17) - 1);
    assert_eq!(
        all.to_string(),
        "coherent|restrict|volatile|readonly|writeonly|non-uniform|reorderable|non-temporal|include-helpers|\
         is-swizzled-amd|uses-format-amd|fmask-lowered-amd|speculatable|cp-ge-coherent-amd|in-bounds-agx|keep-scalar|smem-amd"
    );
    assert_eq!(AccessFlags::NONE.to_string(), "none");
    for bits in [0, 1, 8, 16, 0x41, 0x1234, all.0] {
        assert_eq!(AccessFlags::parse(&AccessFlags(bits).to_string()), Some(AccessFlags(bits)));
        assert_eq!(AccessFlags::from_i32(AccessFlags(bits).to_i32()), AccessFlags(bits));
    }
    assert_eq!(AccessFlags::NON_READABLE, AccessFlags(1 << 3));
    assert_eq!(AccessFlags::parse("coherent|none"), None);
    assert_eq!(AccessFlags::parse(""), None);
}

#[test]
fn memory_semantics_round_trip() {
    for bits in 0..16 {
        let semantics = MemorySemantics(bits);
        assert_eq!(MemorySemantics::parse(&semantics.to_string()), Some(semantics));
        assert_eq!(MemorySemantics::from_i32(semantics.to_i32()), semantics);
    }
    assert_eq!(MemorySemantics::ACQ_REL.to_string(), "ACQ|REL");
    assert_eq!(MemorySemantics(4).to_string(), "NONE|AVAILABLE");
    assert_eq!(MemorySemantics::parse("ACQUIRE"), None);
}

#[test]
fn io_semantics_fill_the_index() {
    // Every bit belongs to exactly one field.
    for bit in 0..32 {
        let number = (1u32 << bit) as i32;
        assert_eq!(IoSemantics::from_i32(number).to_i32(), number);
        assert_ne!(IoSemantics::from_i32(number), IoSemantics::default());
    }
    let mut semantics = IoSemantics::new(127, 63);
    semantics.gs_streams = 0b11_10_01_00;
    assert_eq!(IoSemantics::from_i32(semantics.to_i32()), semantics);
    assert_eq!(semantics.flag_names().count(), 0);
    let names = "explicit_strict dualsrc fbfetch coherent perview mediump high_16bits invariant high_dvec2 no_varying \
                 no_sysval_output";
    for name in names.split_whitespace() {
        let mut one = IoSemantics::new(5, 1);
        assert!(one.set_flag(name));
        assert_eq!(one.flag_names().collect::<Vec<_>>(), [name]);
        assert_eq!(IoSemantics::from_i32(one.to_i32()), one);
        assert!(semantics.set_flag(name));
    }
    assert_eq!(semantics.flag_names().collect::<Vec<_>>().join(" "), names);
    assert!(!semantics.set_flag("slots"));
}

#[test]
fn io_xfb_round_trips() {
    let first = IoXfbOut { num_components: 2, buffer: 3, offset: 255 };
    let xfb = IoXfb { out: [first, IoXfbOut { num_components: 1, buffer: 15, offset: 4 }] };
    assert_eq!(IoXfb::from_i32(xfb.to_i32()), xfb);
    assert_eq!(IoXfb::from_i32(0), IoXfb::default());
}
