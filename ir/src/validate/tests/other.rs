//! Calls, constants, phis, parallel copies, jumps, variables.

use super::*;

pub(super) fn other_rules() {
    let call = |indirect: bool, callee: u32, num_sources: usize, bits: u8| {
        let mut shader = Shader::new(ShaderStage::Fragment);
        shader.functions.push(FunctionData {
            name: "f".into(),
            parameters: vec![Parameter { num_components: 1, bit_size: 32, name: String::new(), is_return: false }],
            is_entry_point: false,
            is_exported: false,
            attributes: Vec::new(),
            body: Some(Body::new()),
        });
        let mut b = Builder::at_end(shader.main_mut());
        let x = b.constant(bits, &[1]);
        let sources = vec![SourceSpec::plain(x); num_sources];
        b.build(InstData::Call { callee: Function::from_u32(callee), indirect }, &sources, None);
        shader
    };
    trips(&call(false, 1, 1, 32), &[]);
    trips(&call(false, 9, 1, 32), &["call-callee"]);
    trips(&call(false, 1, 2, 32), &["call-count"]);
    trips(&call(false, 1, 1, 64), &["call-shape"]);
    trips(&call(true, 1, 2, 32), &["call-indirect"]);
    code_trips(&["constant-bits"], |b| {
        let start = b.body.push_constants(&[0x1_0000_0000]);
        b.build(InstData::LoadConst { start }, &[], Some(ONE));
    });
    code_trips(&["constant-pool"], |b| {
        b.build(InstData::LoadConst { start: 12 }, &[], Some(ONE));
    });
    code_trips(&["phi-missing"], |b| {
        let (_, phi, ..) = diamond(b);
        b.body.remove_source(phi, 1);
    });
    code_trips(&["phi-extra"], |b| {
        let (_, phi, [x, _], _) = diamond(b);
        let here = b.block();
        b.body.add_phi_source(phi, here, x);
        let last = b.body.source(phi, 2);
        let condition = b.body.src_def(b.body.if_condition(If::from_u32(0)));
        let shape = b.body.shape(condition);
        assert_eq!(shape, Shape::new(1, 1));
        let start = b.body.start_block();
        b.body.set_phi_predecessor(last, start);
        let early = b.body.create_inst(InstData::Undef, &[], Some(ONE));
        b.body.insert_inst(Cursor::BlockStart(start), early);
        let early = b.body.inst_def(early).unwrap();
        b.body.set_src(last, early);
    });
    code_trips(&["phi-twice"], |b| {
        let (_, phi, [x, _], [then_block, _]) = diamond(b);
        b.body.add_phi_source(phi, then_block, x);
    });
    code_trips(&["phi-shape"], |b| {
        let (_, phi, ..) = diamond(b);
        let def = b.body.inst_def(phi).unwrap();
        b.body.set_shape(def, Shape::new(1, 64));
    });
    code_trips(&["phi-place"], |b| {
        let (_, phi, ..) = diamond(b);
        let def = b.undef(1, 32);
        b.body.move_inst(Cursor::BlockEnd(b.block()), phi);
        assert!(b.body.is_unused(def));
    });
    code_trips(&["copy-entry"], |b| {
        let x = b.u32_const(1);
        let copy = b.body.create_parallel_copy();
        b.insert(copy);
        let copied = b.body.add_copy(copy, x);
        b.body.set_shape(copied, Shape::new(2, 32));
    });
    code_trips(&[], |b| {
        let x = b.u32_const(1);
        let handle = b.decl_reg(ONE, 0);
        let copy = b.body.create_parallel_copy();
        b.insert(copy);
        let copied = b.body.add_copy(copy, x);
        b.body.add_copy(copy, x);
        b.body.set_copy_dest_register(copy, 1, handle);
        b.alu(AluOp::Ineg, &[copied]);
    });
    code_trips(&["jump-place"], |b| {
        let jump = b.jump(JumpKind::Return);
        let undef = b.body.create_inst(InstData::Undef, &[], Some(ONE));
        b.body.insert_inst(Cursor::After(jump), undef);
        let block = b.block();
        // The edge that the tree now implies.
        b.body.update_successors(block);
    });
    code_trips(&["jump-followed"], |b| {
        let condition = b.bool_const(true);
        b.push_if(condition);
        let start = b.body.start_block();
        b.body.insert_jump(start, JumpKind::Return, None);
    });
    code_trips(&["jump-outside-loop"], |b| {
        b.jump(JumpKind::Break);
    });
    code_trips(&["jump-in-continue"], |b| {
        let id = b.push_loop();
        let block = b.body.add_continue_construct(id);
        b.cursor = Cursor::BlockEnd(block);
        b.jump(JumpKind::Return);
        b.cursor = Cursor::BlockEnd(b.body.loop_body(id).first);
        b.jump(JumpKind::Break);
    });
    code_trips(&["jump-structured"], |b| {
        let (start, end) = (b.body.start_block(), b.body.end_block());
        b.body.insert_jump(start, JumpKind::Goto(end), None);
        b.body.structured = true;
    });
    code_trips(&["jump-target", "successor-outside"], |b| {
        let (start, end) = (b.body.start_block(), b.body.end_block());
        let id = b.push_loop();
        b.end_loop(id);
        let gone = b.body.loop_body(id).first;
        b.body.remove_node(CfNode::Loop(id));
        b.body.corrupt_block_parent(gone, None);
        b.body.insert_jump(start, JumpKind::Goto(gone), None);
        assert_ne!(gone, end);
    });
}

pub(super) fn variable_rules() {
    let mut shader = Shader::new(ShaderStage::Compute);
    let layout =
        |stride, row_major| TypeData::Matrix { scalar: ScalarType::Double, columns: 2, rows: 3, stride, row_major };
    shader.types.intern(layout(24, false));
    shader.types.intern(layout(16, true));
    trips(&shader, &[]);
    shader.types.intern(layout(16, false));
    trips(&shader, &["type-stride"]);
    use VariableModes as M;
    let variable = |stage: ShaderStage, mode: M, change: &dyn Fn(&mut Shader, &mut VariableData)| {
        let mut shader = Shader::new(stage);
        let ty = shader.types.vector(ScalarType::Float, 4);
        let mut data = VariableData::new("v", ty, mode);
        change(&mut shader, &mut data);
        shader.add_variable(data);
        shader
    };
    trips(&variable(ShaderStage::Vertex, M::SHADER_IN, &|_, v| v.location = 0x1_0003), &[]);
    trips(&variable(ShaderStage::Vertex, M::SHADER_IN.union(M::SHADER_OUT), &|_, _| {}), &["variable-mode"]);
    trips(&variable(ShaderStage::Vertex, M::FUNCTION_TEMP, &|_, _| {}), &["variable-mode"]);
    let mut shader = variable(ShaderStage::Vertex, M::SHADER_IN, &|_, _| {});
    let listed = shader.globals[0];
    shader.globals.push(listed);
    trips(&shader, &["variable-twice"]);
    shader.globals = vec![listed, Variable::from_u32(40)];
    trips(&shader, &["variable-unknown"]);
    trips(&variable(ShaderStage::Vertex, M::SHADER_IN, &|_, v| v.ty = Type::from_u32(99)), &["variable-type"]);
    trips(&variable(ShaderStage::Vertex, M::SHADER_OUT, &|_, v| v.compact = true), &["variable-compact"]);
    let compact = variable(ShaderStage::Vertex, M::SHADER_OUT, &|s, v| {
        let float = s.types.vector(ScalarType::Float, 1);
        (v.ty, v.compact) = (s.types.array(float, 8), true);
    });
    trips(&compact, &[]);
    trips(&variable(ShaderStage::Vertex, M::SHADER_OUT, &|_, v| v.per_view = true), &["variable-per-view"]);
    trips(&variable(ShaderStage::Geometry, M::SHADER_IN, &|_, v| v.per_vertex = true), &["variable-per-vertex"]);
    let arrayed = variable(ShaderStage::Geometry, M::SHADER_IN, &|s, v| {
        (v.ty, v.per_vertex) = (s.types.array(v.ty, 3), true);
    });
    trips(&arrayed, &[]);
    trips(&variable(ShaderStage::Vertex, M::IMAGE, &|_, _| {}), &["variable-image"]);
    trips(&variable(ShaderStage::Vertex, M::SHADER_IN, &|_, v| v.location_frac = 4), &["variable-component"]);
    let initialized = |initializer: Initializer| {
        variable(ShaderStage::Vertex, M::SHADER_TEMP, &move |_, v| v.initializer = Some(initializer.clone()))
    };
    trips(&initialized(Initializer::Vector(vec![1, 2, 3, 4])), &[]);
    trips(&initialized(Initializer::Vector(vec![1, 2, 3])), &["variable-initializer"]);
    trips(&initialized(Initializer::Vector(vec![1 << 32, 2, 3, 4])), &["variable-initializer"]);
    trips(&initialized(Initializer::Elements(vec![Initializer::Null])), &["variable-initializer"]);
    let mut shader = Shader::new(ShaderStage::Fragment);
    shader.info.has_transform_feedback_varyings = true;
    trips(&shader, &["xfb-stage"]);
}
