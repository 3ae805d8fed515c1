//! Intrinsics: registers, variables, memory, outputs, images.

use super::*;

pub(super) fn intrinsic_rules() {
    use IndexKind as X;
    use IntrinsicOp as I;
    code_trips(&["intrinsic-source"], |b| {
        let x = b.constant(1, &[1, 1]);
        intrinsic(b, I::TerminateIf, 0, &[x], &[], None);
        intrinsic(b, I::Ddx, 4, &[x], &[], Some(FOUR));
    });
    code_trips(&["intrinsic-dest"], |b| {
        intrinsic(b, I::LoadFragCoord, 0, &[], &[], Some(ONE));
    });
    code_trips(&["intrinsic-dest-bits"], |b| {
        intrinsic(b, I::LoadFragCoord, 0, &[], &[], Some(Shape::new(4, 16)));
        let x = b.u32_const(1);
        intrinsic(b, I::AsUniform, 1, &[x], &[], Some(Shape::new(1, 16)));
    });
    code_trips(&["intrinsic-components"], |b| {
        intrinsic(b, I::Terminate, 1, &[], &[], None);
        let x = b.u32_const(1);
        intrinsic(b, I::Ddx, 0, &[x], &[], Some(ONE));
    });
    code_trips(&["write-mask"], |b| {
        let handle = b.decl_reg(Shape::new(2, 32), 0);
        let x = b.constant(32, &[1, 2]);
        b.store_reg(x, handle, 0, 0b111);
        b.store_reg(x, handle, 0, 0b11);
    });
    code_trips(&["register-place"], |b| {
        let handle = b.decl_reg(ONE, 0);
        let decl = b.body.def_inst(handle);
        let condition = b.bool_const(true);
        b.push_if(condition);
        let cursor = b.cursor;
        b.body.move_inst(cursor, decl);
    });
    code_trips(&["register-declaration"], |b| {
        let handle = b.decl_reg(ONE, 0);
        let decl = b.body.def_inst(handle);
        b.body.set_index(decl, X::NumComponents, 7);
    });
    code_trips(&["register-handle"], |b| {
        let x = b.u32_const(1);
        b.load_reg(x, 0);
        b.store_reg(x, x, 0, 1);
    });
    code_trips(&["register-shape"], |b| {
        let handle = b.decl_reg(FOUR, 0);
        let x = b.u32_const(1);
        b.store_reg(x, handle, 0, 1);
        intrinsic(b, I::LoadReg, 1, &[handle], &[], Some(ONE));
        b.load_reg(handle, 0);
    });
    code_trips(&["register-base"], |b| {
        let (handle, array) = (b.decl_reg(ONE, 0), b.decl_reg(ONE, 2));
        let x = b.u32_const(1);
        b.store_reg(x, handle, 1, 1);
        b.store_reg(x, array, 1, 1);
        b.load_reg(array, 7);
    });
    code_trips(&["register-use"], |b| {
        let handle = b.decl_reg(ONE, 0);
        b.alu(AluOp::Ineg, &[handle]);
        b.store_reg(handle, handle, 0, 1);
    });
    code_trips(&["convert-types"], |b| {
        let x = b.u32_const(1);
        let types = [(X::SrcType, AluType::UINT32.to_i32()), (X::DestType, AluType::FLOAT16.to_i32())];
        intrinsic(b, I::ConvertAluTypes, 1, &[x], &types, Some(Shape::new(1, 16)));
        intrinsic(b, I::ConvertAluTypes, 1, &[x], &types, Some(ONE));
    });
    code_trips(&["param-index"], |b| {
        intrinsic(b, I::LoadParam, 1, &[], &[(X::ParamIdx, -1)], Some(ONE));
    });
    let mut shader = Shader::new(ShaderStage::Fragment);
    let mut body = Body::new();
    let mut b = Builder::at_end(&mut body);
    intrinsic(&mut b, I::LoadParam, 1, &[], &[(X::ParamIdx, 0)], Some(ONE));
    shader.functions.push(FunctionData {
        name: "f".into(),
        parameters: vec![Parameter { num_components: 4, bit_size: 32, name: String::new(), is_return: false }],
        is_entry_point: false,
        is_exported: false,
        attributes: Vec::new(),
        body: Some(body),
    });
    trips(&shader, &["param-shape"]);
    code_trips(&["access-no-deref"], |b| {
        let x = b.u32_const(1);
        b.load_deref(x, FOUR);
    });
    deref_trips(&["access-type"], |b, d| {
        let parent = b.deref_var(d.temp, VariableModes::SHADER_TEMP, d.array);
        b.load_deref(parent, FOUR);
    });
    deref_trips(&["access-shape"], |b, d| {
        let input = b.deref_var(d.input, VariableModes::SHADER_IN, d.vec4);
        b.load_deref(input, ONE);
        let output = b.deref_var(d.output, VariableModes::SHADER_OUT, d.vec4);
        let x = b.constant(64, &[0; 4]);
        b.store_deref(output, x, 15);
    });
    deref_trips(&["access-read-only"], |b, d| {
        let uniform = b.deref_var(d.uniform, VariableModes::UNIFORM, d.vec4);
        let x = b.load_deref(uniform, FOUR);
        b.store_deref(uniform, x, 15);
        intrinsic(b, I::CopyDeref, 0, &[uniform, uniform], &[], None);
    });
    deref_trips(&["copy-types"], |b, d| {
        let output = b.deref_var(d.output, VariableModes::SHADER_OUT, d.vec4);
        let temp = b.deref_var(d.temp, VariableModes::SHADER_TEMP, d.array);
        intrinsic(b, I::CopyDeref, 0, &[output, temp], &[], None);
    });
    code_trips(&["ubo-vec4"], |b| {
        let x = b.u32_const(0);
        intrinsic(b, I::LoadUboVec4, 4, &[x, x], &[(X::Component, 1)], Some(FOUR));
    });
    code_trips(&["ubo-range"], |b| {
        let x = b.u32_const(0);
        intrinsic(b, I::LoadUbo, 4, &[x, x], &[(X::AlignMul, 16)], Some(FOUR));
    });
    code_trips(&["memory-align"], |b| {
        let x = b.u32_const(0);
        intrinsic(b, I::LoadSsbo, 4, &[x, x], &[(X::AlignMul, 12)], Some(FOUR));
        intrinsic(b, I::LoadSsbo, 4, &[x, x], &[(X::AlignMul, 4), (X::AlignOffset, 4)], Some(FOUR));
    });
    code_trips(&["memory-bits"], |b| {
        let x = b.u32_const(0);
        intrinsic(b, I::LoadUniform, 1, &[x], &[], Some(Shape::new(1, 1)));
    });
    code_trips(&["barycentric"], |b| {
        intrinsic(b, I::LoadBarycentricPixel, 0, &[], &[(X::InterpMode, 2)], Some(Shape::new(2, 32)));
    });
    let store = |b: &mut Builder, bits, ty: AluType, io: IoSemantics, xfb: IoXfb| {
        let x = b.constant(bits, &[0; 4]);
        let offset = b.u32_const(0);
        let indices =
            [(X::WriteMask, 15), (X::SrcType, ty.to_i32()), (X::IoSemantics, io.to_i32()), (X::IoXfb, xfb.to_i32())];
        intrinsic(b, I::StoreOutput, 4, &[x, offset], &indices, None);
    };
    let plain = IoSemantics::new(32, 1);
    body_trips(ShaderStage::Vertex, &[], |b| store(b, 32, AluType::FLOAT32, plain, IoXfb::default()));
    body_trips(ShaderStage::Vertex, &["output-bits"], |b| store(b, 8, AluType::UINT8, plain, IoXfb::default()));
    body_trips(ShaderStage::Vertex, &["output-type"], |b| store(b, 32, AluType::FLOAT16, plain, IoXfb::default()));
    let out = |num_components| IoXfbOut { num_components, buffer: 0, offset: 0 };
    let overlapping = IoXfb { out: [out(2), out(1)] };
    body_trips(ShaderStage::Vertex, &["xfb-overlap"], |b| store(b, 32, AluType::FLOAT32, plain, overlapping));
    let capture = IoXfb { out: [out(4), out(0)] };
    body_trips(ShaderStage::Fragment, &["xfb-stage"], |b| store(b, 32, AluType::FLOAT32, plain, capture));
    let nowhere = IoSemantics { no_varying: true, ..plain };
    body_trips(ShaderStage::Vertex, &["output-no-effect"], |b| {
        store(b, 32, AluType::FLOAT32, nowhere, IoXfb::default())
    });
    body_trips(ShaderStage::Vertex, &[], |b| store(b, 32, AluType::FLOAT32, nowhere, capture));
    let dual = IoSemantics { dual_source_blend_index: true, ..plain };
    body_trips(ShaderStage::Vertex, &["io-flag"], |b| store(b, 32, AluType::FLOAT32, dual, IoXfb::default()));
    code_trips(&["single-mode"], |b| {
        let x = b.u32_const(0);
        intrinsic(b, I::AddrModeIs, 0, &[x], &[(X::MemoryModes, 3)], Some(Shape::new(1, 1)));
    });
    let atomic = |b: &mut Builder, format: &str, op: AtomicOp| {
        let (index, data) = (b.u32_const(0), b.u32_const(1));
        let coordinate = b.constant(32, &[0; 4]);
        let format = PixelFormat::from_short_name(format).unwrap();
        let indices = [(X::Format, i32::from(format.value())), (X::AtomicOp, op.to_i32())];
        intrinsic(b, I::ImageAtomic, 0, &[index, coordinate, index, data], &indices, Some(ONE));
    };
    code_trips(&[], |b| atomic(b, "R32_FLOAT", AtomicOp::Xchg));
    code_trips(&["image-atomic"], |b| atomic(b, "R32_UINT", AtomicOp::Fadd));
    code_trips(&["image-atomic-bits"], |b| atomic(b, "R64_UINT", AtomicOp::Iadd));
}
