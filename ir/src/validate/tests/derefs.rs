//! Derefs.

use super::*;

pub(super) fn deref_rules() {
    use VariableModes as M;
    let cast = |b: &mut Builder, align_mul, align_offset| {
        DerefKind::Cast(b.body.push_cast(crate::body::CastLayout { ptr_stride: 0, align_mul, align_offset }))
    };
    deref_trips(&["deref-var-modes"], |b, d| {
        b.deref_var(d.temp, M::MEM_SHARED, d.array);
    });
    deref_trips(&["deref-var-type"], |b, d| {
        b.deref_var(d.temp, M::SHADER_TEMP, d.vec4);
    });
    let mut d = derefs_shader();
    let unlisted = d.shader.variables.push(VariableData::new("lost", d.vec4, M::SHADER_TEMP));
    Builder::at_end(d.shader.main_mut()).deref_var(unlisted, M::SHADER_TEMP, d.vec4);
    trips(&d.shader, &["deref-var-undeclared"]);
    // A temporary of another function.
    let mut d = derefs_shader();
    let other = d.shader.functions.push(FunctionData {
        name: "other".into(),
        parameters: Vec::new(),
        is_entry_point: false,
        is_exported: false,
        attributes: Vec::new(),
        body: Some(Body::new()),
    });
    let local = d.shader.add_local(other, "local", d.vec4);
    let body = d.shader.functions[other].body.as_mut().unwrap();
    Builder::at_end(body).deref_var(local, M::FUNCTION_TEMP, d.vec4);
    trips(&d.shader, &[]);
    Builder::at_end(d.shader.main_mut()).deref_var(local, M::FUNCTION_TEMP, d.vec4);
    trips(&d.shader, &["deref-var-undeclared"]);
    deref_trips(&["deref-type"], |b, d| {
        b.deref_var(d.temp, M::SHADER_TEMP, Type::from_u32(1000));
    });
    deref_trips(&["cast-modes"], |b, d| {
        let x = b.u32_const(0);
        let kind = cast(b, 0, 0);
        deref(b, kind, M::MEM_SSBO.union(M::MEM_UBO), d.vec4, &[x], ONE);
        let kind = cast(b, 0, 0);
        deref(b, kind, M::GENERIC, d.vec4, &[x], ONE);
    });
    deref_trips(&["cast-no-modes"], |b, d| {
        let x = b.u32_const(0);
        let kind = cast(b, 0, 0);
        deref(b, kind, M::NONE, d.vec4, &[x], ONE);
    });
    deref_trips(&["cast-parent-modes"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        let kind = cast(b, 0, 0);
        deref(b, kind, M::MEM_SHARED, d.vec4, &[parent], ONE);
    });
    deref_trips(&["cast-align"], |b, d| {
        let x = b.u32_const(0);
        let kind = cast(b, 3, 0);
        deref(b, kind, M::MEM_SSBO, d.vec4, &[x], ONE);
    });
    deref_trips(&["deref-parent"], |b, d| {
        let x = b.u32_const(0);
        deref(b, DerefKind::Array, M::SHADER_TEMP, d.vec4, &[x, x], ONE);
    });
    deref_trips(&["deref-parent-shape"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        let index = b.constant(64, &[0]);
        deref(b, DerefKind::Array, M::SHADER_TEMP, d.vec4, &[parent, index], Shape::new(1, 64));
    });
    deref_trips(&["deref-parent-modes"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        let index = b.u32_const(0);
        deref(b, DerefKind::Array, M::MEM_SHARED, d.vec4, &[parent, index], ONE);
    });
    deref_trips(&["deref-not-struct"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        deref(b, DerefKind::Struct(0), M::SHADER_TEMP, d.vec4, &[parent], ONE);
    });
    deref_trips(&["deref-field", "deref-field-type"], |b, d| {
        let parent = b.deref_var(d.structure, M::SHADER_TEMP, d.record);
        deref(b, DerefKind::Struct(0), M::SHADER_TEMP, d.vec4, &[parent], ONE);
        deref(b, DerefKind::Struct(1), M::SHADER_TEMP, d.vec4, &[parent], ONE);
        deref(b, DerefKind::Struct(0), M::SHADER_TEMP, d.array, &[parent], ONE);
    });
    deref_trips(&["deref-not-array"], |b, d| {
        // Inputs cannot be indexed by component.
        let parent = b.deref_var(d.input, M::SHADER_IN, d.vec4);
        deref(b, DerefKind::ArrayWildcard, M::SHADER_IN, d.vec4, &[parent], ONE);
    });
    deref_trips(&["deref-element-type"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        deref(b, DerefKind::ArrayWildcard, M::SHADER_TEMP, d.vec4, &[parent], ONE);
        deref(b, DerefKind::ArrayWildcard, M::SHADER_TEMP, d.array, &[parent], ONE);
    });
    deref_trips(&["deref-index"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        let index = b.constant(16, &[0]);
        deref(b, DerefKind::Array, M::SHADER_TEMP, d.vec4, &[parent, index], ONE);
    });
    deref_trips(&["deref-ptr-parent"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        let index = b.u32_const(0);
        deref(b, DerefKind::PtrAsArray, M::SHADER_TEMP, d.array, &[parent, index], ONE);
    });
    deref_trips(&["deref-condition"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        b.push_if(parent);
    });
    deref_trips(&["deref-phi"], |b, d| {
        let parent = b.deref_var(d.input, M::SHADER_IN, d.vec4);
        let (_, phi, ..) = diamond(b);
        let source = b.body.source(phi, 0);
        b.body.set_src(source, parent);
    });
}
