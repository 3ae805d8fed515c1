//! Texture instructions.

use super::*;

fn tex(b: &mut Builder, change: impl FnOnce(&mut TexData), sources: &[(TexSrcKind, u8)], shape: Shape) -> Inst {
    let mut data = TexData::new(TexOp::Tex, SamplerDim::Dim2D, AluType::FLOAT32);
    data.coord_components = 2;
    change(&mut data);
    let id = b.body.push_tex(data);
    let sources: Vec<SourceSpec> =
        sources.iter().map(|&(kind, n)| SourceSpec::tex(kind, b.constant(32, &[0; 16][..usize::from(n)]))).collect();
    b.build(InstData::Tex(id), &sources, Some(shape))
}

pub(super) fn texture_rules() {
    use TexSrcKind as K;
    let coord = (K::Coord, 2);
    code_trips(&[], |b| {
        tex(b, |_| {}, &[coord], FOUR);
    });
    code_trips(&["tex-source-kind"], |b| {
        let inst = tex(b, |_| {}, &[coord], FOUR);
        let source = b.body.source(inst, 0);
        b.body.corrupt_payload(source, 99);
    });
    code_trips(&["tex-source-twice"], |b| {
        tex(b, |_| {}, &[coord, coord], FOUR);
    });
    code_trips(&["tex-source-size"], |b| {
        tex(b, |_| {}, &[(K::Coord, 3)], FOUR);
        tex(b, |t| (t.is_array, t.coord_components) = (true, 3), &[(K::Coord, 3), (K::Offset, 3)], FOUR);
    });
    code_trips(&["tex-source"], |b| {
        tex(b, |_| {}, &[coord, (K::Comparator, 1)], FOUR);
        tex(b, |_| {}, &[coord, (K::Lod, 1)], FOUR);
        tex(b, |_| {}, &[coord, (K::Bias, 1)], FOUR);
        tex(b, |_| {}, &[coord, (K::Ddx, 2)], FOUR);
    });
    code_trips(&["tex-deref"], |b| {
        tex(b, |_| {}, &[coord, (K::TextureDeref, 1)], FOUR);
    });
    code_trips(&["tex-dim"], |b| {
        tex(b, |t| (t.op, t.dim) = (TexOp::Txf, SamplerDim::Ms), &[coord], FOUR);
        tex(b, |t| t.op = TexOp::TxfMs, &[coord], FOUR);
    });
    code_trips(&["tex-component"], |b| {
        tex(b, |t| t.component = 1, &[coord], FOUR);
    });
    code_trips(&["tex-offsets"], |b| {
        tex(b, |t| (t.op, t.tg4_offsets[0]) = (TexOp::Tg4, [3, 3]), &[coord, (K::Offset, 2)], FOUR);
        tex(b, |t| (t.op, t.tg4_offsets[0]) = (TexOp::Tg4, [3, 3]), &[coord], FOUR);
    });
    code_trips(&["tex-gather-lod"], |b| {
        tex(b, |t| t.is_gather_implicit_lod = true, &[coord], FOUR);
    });
    code_trips(&["tex-dest"], |b| {
        tex(b, |t| t.is_sparse = true, &[coord], FOUR);
    });
    code_trips(&["tex-result-type"], |b| {
        tex(b, |t| t.op = TexOp::QueryLevels, &[], ONE);
    });
    let mut shader = Shader::new(ShaderStage::Fragment);
    let ty = shader.types.intern(TypeData::Sampler {
        dim: Some(SamplerDim::Dim2D),
        array: false,
        shadow: false,
        result: ScalarType::Uint,
    });
    let variable = shader.add_variable(VariableData::new("s", ty, VariableModes::UNIFORM));
    let mut b = Builder::at_end(shader.main_mut());
    let sampler = b.deref_var(variable, VariableModes::UNIFORM, ty);
    let at = b.constant(32, &[0, 0]);
    let mut data = TexData::new(TexOp::Tex, SamplerDim::Dim2D, AluType::FLOAT32);
    data.coord_components = 2;
    b.texture(data, &[(K::Coord, at), (K::TextureDeref, sampler), (K::SamplerDeref, sampler)]);
    trips(&shader, &["tex-result-type"]);
}
