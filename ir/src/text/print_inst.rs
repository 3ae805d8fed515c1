//! Prints instructions.

use std::fmt::Write;

use super::index_text::{component_letters, push_index, push_modes};
use super::infer::{intrinsic_source_type, tex_source_type};
use super::print::{BodyState, Printer, constant_index, push_float, push_spaces, push_word, sign_extend};
use super::reconstruct::{guess_num_components, guess_tex, prints_sampler_index, prints_texture_index};
use super::slot_names::io_mode;
use super::type_names::{has_stride, push_type, type_data};
use crate::alu::{AluOp, BaseType};
use crate::body::{AluFlags, Body, CastLayout, DEFAULT_TG4_OFFSETS, DerefKind, InstData, JumpKind, TexOp, TexSrcKind};
use crate::entities::{Def, Inst, Use};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::types::TypeData;
use crate::variable::VariableModes;

/// Maximum number of links of a deref path that the comment of a deref shows.
const MAX_PATH: usize = 64;

impl Printer<'_> {
    /// Prints one instruction without indentation and line end.
    pub(super) fn inst(&mut self, state: &BodyState<'_>, inst: Inst) {
        let body = state.body;
        match body.inst_def(inst) {
            Some(def) => {
                self.destination(state, def);
                self.out.push_str(" = ");
            }
            None => push_spaces(&mut self.out, state.width),
        }
        match *body.inst(inst) {
            InstData::Alu { op, flags } => self.alu(state, inst, op, flags),
            InstData::Deref { kind, modes, ty } => {
                self.deref(state, inst, kind);
                self.out.push_str(" (");
                push_modes(&mut self.out, modes);
                self.out.push(' ');
                push_type(&mut self.out, &self.shader.types, ty, false);
                self.out.push(')');
                self.deref_tail(state, inst, kind);
                if !self.options.mesa {
                    self.deref_remark(state, inst, ty);
                }
            }
            InstData::Call { callee, indirect } => self.call(state, inst, callee, indirect),
            InstData::Tex(_) => self.tex(state, inst),
            InstData::Intrinsic { op, num_components, .. } => {
                self.intrinsic(state, inst, op, num_components, body.inst_indices(inst));
            }
            InstData::LoadConst { .. } => self.load_const(state, inst),
            InstData::Jump(kind) => self.jump(state, inst, kind),
            InstData::Undef => self.out.push_str("undefined"),
            InstData::Phi => {
                self.out.push_str("phi ");
                for (i, (predecessor, source)) in body.phi_sources(inst).enumerate() {
                    self.out.push_str(if i > 0 { ", " } else { "" });
                    let _ = write!(self.out, "b{}: ", state.numbers[predecessor]);
                    self.source(state, body.src_def(source), BaseType::Invalid);
                }
            }
            InstData::ParallelCopy(_) => self.parallel_copy(state, inst),
        }
    }

    /// Prints `32x4 %12`, padded to align values.
    fn destination(&mut self, state: &BodyState<'_>, def: Def) {
        let body = state.body;
        if state.divergence {
            // A value created after the analysis has no mark, because its divergence is unknown.
            self.out.push_str(match (body.is_divergent(def), body.is_known_uniform(def)) {
                (true, _) => "div ",
                (_, true) => "con ",
                _ => "    ",
            });
        }
        let (bits, components) = (body.bit_size(def), body.num_components(def));
        let start = self.out.len();
        let _ = write!(self.out, "{bits}");
        let bits_end = self.out.len();
        if components != 1 {
            let _ = write!(self.out, "x{components}");
        }
        let size = self.out.len() - bits_end;
        let number = def.as_u32() as usize;
        // The width of the value number and of the bit size.
        let padding = 3usize.saturating_sub(size)
            + 1
            + usize::from(bits <= 8)
            + state.digits.saturating_sub(super::print::digits(number));
        debug_assert!(bits_end > start);
        push_spaces(&mut self.out, padding);
        let _ = write!(self.out, "%{number}");
    }

    /// Prints an operand, with its value if it is constant.
    pub(super) fn source(&mut self, state: &BodyState<'_>, def: Def, base: BaseType) {
        let _ = write!(self.out, "%{}", def.as_u32());
        let Some(values) = state.body.def_constant(def) else { return };
        let bits = state.body.bit_size(def);
        let is_bool = bits == 1 || base == BaseType::Bool;
        let is_float = match base {
            BaseType::Float => true,
            BaseType::Invalid => state.types.is_float_only(def),
            _ => false,
        };
        self.out.push_str(" (");
        for (i, &value) in values.iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { "" });
            if is_bool {
                self.out.push_str(if value & 0xff != 0 { "true" } else { "false" });
            } else if is_float && bits >= 16 {
                push_float(&mut self.out, value, bits);
            } else {
                let _ = write!(self.out, "0x{value:x}");
            }
        }
        self.out.push(')');
    }

    fn load_const(&mut self, state: &BodyState<'_>, inst: Inst) {
        let body = state.body;
        self.out.push_str("load_const ");
        let (Some(def), Some(values)) = (body.inst_def(inst), body.constant(inst)) else { return };
        let bits = body.bit_size(def);
        if bits == 1 {
            self.constant_group(values, "(", ")", |out, value| {
                out.push_str(if value & 0xff != 0 { "true" } else { "false" });
            });
            return;
        }
        let digits = usize::from(bits) / 4;
        let float_only = state.types.is_float_only(def);
        let float = bits > 8 && !state.types.is_int_only(def);
        let signed = !float_only && values.iter().any(|&v| sign_extend(bits, v) < 0);
        let unsigned = !float_only && values.iter().any(|&v| v >= 10);
        // For one component, all interpretations are in one pair of parentheses.
        let (open, close, next_open, next_close) =
            if values.len() == 1 { ("(", "", " = ", "") } else { ("(", ")", " = (", ")") };
        self.constant_group(values, open, close, |out, value| {
            let _ = write!(out, "0x{value:0digits$x}");
        });
        if float {
            self.constant_group(values, next_open, next_close, |out, value| push_float(out, value, bits));
        }
        if signed {
            self.constant_group(values, next_open, next_close, |out, value| {
                let _ = write!(out, "{:+}", sign_extend(bits, value));
            });
        }
        if unsigned {
            self.constant_group(values, next_open, next_close, |out, value| {
                let _ = write!(out, "{value}");
            });
        }
        if values.len() == 1 {
            self.out.push(')');
        }
    }

    fn constant_group(&mut self, values: &[u64], open: &str, close: &str, push: impl Fn(&mut String, u64)) {
        self.out.push_str(open);
        for (i, &value) in values.iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { "" });
            push(&mut self.out, value);
        }
        self.out.push_str(close);
    }

    fn alu(&mut self, state: &BodyState<'_>, inst: Inst, op: AluOp, flags: AluFlags) {
        self.out.push_str(op.name());
        if flags.is_exact() {
            self.out.push('!');
        }
        if flags.contains(AluFlags::NO_SIGNED_WRAP) {
            self.out.push_str(".nsw");
        }
        if flags.contains(AluFlags::NO_UNSIGNED_WRAP) {
            self.out.push_str(".nuw");
        }
        for (i, source) in state.body.sources(inst).enumerate() {
            self.out.push_str(if i > 0 { ", " } else { " " });
            let base = op.info().input_types.get(i).map_or(BaseType::Invalid, |ty| ty.base);
            self.source(state, state.body.src_def(source), base);
            self.swizzle(state.body, inst, i, source);
        }
        let fast_math = flags.0 >> AluFlags::FAST_MATH_SHIFT;
        if fast_math != 0 && !self.options.mesa {
            let _ = write!(self.out, "  // fast_math=0x{fast_math:x}");
        }
    }

    fn swizzle(&mut self, body: &Body, inst: Inst, number: usize, source: Use) {
        let used = body.alu_src_components(inst, number).min(16);
        let def = body.src_def(source);
        if !body.has_def(def) {
            return;
        }
        let size = usize::from(body.num_components(def));
        let swizzle = body.swizzle(source);
        if used == size && swizzle.is_identity(used) {
            return;
        }
        let letters = component_letters(size);
        self.out.push('.');
        self.out.extend(swizzle.iter(used).map(|c| char::from(letters[usize::from(c)])));
    }

    fn deref(&mut self, state: &BodyState<'_>, inst: Inst, kind: DerefKind) {
        self.out.push_str(match kind {
            DerefKind::Var(_) => "deref_var &",
            DerefKind::Array | DerefKind::ArrayWildcard => "deref_array &",
            DerefKind::PtrAsArray => "deref_ptr_as_array &",
            DerefKind::Struct(_) => "deref_struct &",
            DerefKind::Cast { .. } => "deref_cast ",
        });
        self.deref_link(state, inst, false);
    }

    /// Prints one link of a path that starts at the value of the parent.
    fn deref_link(&mut self, state: &BodyState<'_>, inst: Inst, parent_done: bool) {
        let body = state.body;
        let InstData::Deref { kind, ty, .. } = *body.inst(inst) else { return };
        let parent = |printer: &mut Self| {
            if body.num_sources(inst) > 0 {
                printer.source(state, body.src(inst, 0), BaseType::Invalid);
            }
        };
        match kind {
            DerefKind::Var(variable) => self.out.push_str(self.names.get(variable)),
            DerefKind::Cast { .. } => {
                self.out.push('(');
                push_type(&mut self.out, &self.shader.types, ty, false);
                self.out.push_str(" *)");
                parent(self);
            }
            DerefKind::Struct(field) => {
                if !parent_done {
                    parent(self);
                }
                let parent_is_pointer = !parent_done || self.parent_is_cast(body, inst);
                self.out.push_str(if parent_is_pointer { "->" } else { "." });
                self.field_name(body, inst, field);
            }
            DerefKind::Array | DerefKind::PtrAsArray | DerefKind::ArrayWildcard => {
                if !parent_done {
                    self.out.push_str("(*");
                    parent(self);
                    self.out.push(')');
                }
                self.out.push('[');
                if kind == DerefKind::ArrayWildcard {
                    self.out.push('*');
                } else if let Some(index) = constant_index(body, inst) {
                    let _ = write!(self.out, "{index}");
                } else if body.num_sources(inst) > 1 {
                    self.source(state, body.src(inst, 1), BaseType::Invalid);
                }
                self.out.push(']');
            }
        }
    }

    fn parent_is_cast(&self, body: &Body, inst: Inst) -> bool {
        parent_deref(body, inst)
            .is_some_and(|p| matches!(body.inst(p), InstData::Deref { kind: DerefKind::Cast { .. }, .. }))
    }

    fn field_name(&mut self, body: &Body, inst: Inst, field: u32) {
        let name = parent_deref(body, inst).and_then(|p| match *body.inst(p) {
            InstData::Deref { ty, .. } => match type_data(&self.shader.types, ty) {
                Some(TypeData::Struct { fields, .. }) => fields.get(field as usize).map(|f| f.name.as_str()),
                _ => None,
            },
            _ => None,
        });
        match name {
            Some(name) => self.out.push_str(name),
            None => {
                let _ = write!(self.out, "field{field}");
            }
        }
    }

    /// Prints the part after the type of a deref: the layout of a cast, or the whole path of others.
    fn deref_tail(&mut self, state: &BodyState<'_>, inst: Inst, kind: DerefKind) {
        match kind {
            DerefKind::Var(_) => return,
            DerefKind::Cast(cast) => {
                let CastLayout { ptr_stride, align_mul, align_offset } = state.body.cast(cast);
                let _ =
                    write!(self.out, "  (ptr_stride={ptr_stride}, align_mul={align_mul}, align_offset={align_offset})");
                return;
            }
            _ => {}
        }
        self.out.push_str("  // &");
        let body = state.body;
        let mut path = vec![inst];
        let mut at = inst;
        while path.len() < MAX_PATH
            && !matches!(body.inst(at), InstData::Deref { kind: DerefKind::Var(_) | DerefKind::Cast { .. }, .. })
            && let Some(parent) = parent_deref(body, at)
        {
            path.push(parent);
            at = parent;
        }
        // Outermost first. A cast is a pointer: a field follows with an arrow, an element needs a dereference.
        let mut steps = path.into_iter().rev().peekable();
        let mut first = true;
        while let Some(link) = steps.next() {
            let InstData::Deref { kind, .. } = *body.inst(link) else { break };
            let is_cast = matches!(kind, DerefKind::Cast { .. });
            if first && is_cast {
                let next_is_struct = steps
                    .peek()
                    .is_some_and(|&next| matches!(body.inst(next), InstData::Deref { kind: DerefKind::Struct(_), .. }));
                self.out.push_str(if next_is_struct { "(" } else { "(*" });
                self.deref_link(state, link, false);
                self.out.push(')');
            } else {
                let is_root = matches!(kind, DerefKind::Var(_));
                self.deref_link(state, link, !first && !is_root);
            }
            first = false;
        }
    }

    fn deref_remark(&mut self, state: &BodyState<'_>, inst: Inst, ty: crate::entities::Type) {
        let start = self.out.len();
        if constant_index(state.body, inst).is_some() {
            let index = state.body.src(inst, 1);
            if state.constant_indices.get(&inst) != Some(&index) {
                let _ = write!(self.out, " index=%{}", index.as_u32());
            }
        }
        if has_stride(&self.shader.types, ty) {
            self.out.push_str(" type=");
            push_type(&mut self.out, &self.shader.types, ty, true);
        }
        if self.out.len() > start {
            self.out.insert_str(start, "  //");
        }
    }

    fn call(&mut self, state: &BodyState<'_>, inst: Inst, callee: crate::entities::Function, indirect: bool) {
        let body = state.body;
        let function = self.shader.functions.get(callee);
        self.out.push_str("call ");
        push_word(&mut self.out, function.map_or("?", |f| f.name.as_str()));
        self.out.push(' ');
        let mut sources = body.sources(inst);
        if indirect && let Some(source) = sources.next() {
            self.out.push_str("(indirect ");
            self.source(state, body.src_def(source), BaseType::Invalid);
            self.out.push_str(") ");
        }
        for (i, source) in sources.enumerate() {
            self.out.push_str(if i > 0 { ", " } else { "" });
            if let Some(parameter) = function.and_then(|f| f.parameters.get(i))
                && !parameter.name.is_empty()
            {
                push_word(&mut self.out, &parameter.name);
                self.out.push(' ');
            }
            self.source(state, body.src_def(source), BaseType::Invalid);
        }
    }

    fn tex(&mut self, state: &BodyState<'_>, inst: Inst) {
        let body = state.body;
        let Some(tex) = body.tex(inst) else { return };
        let _ = write!(self.out, "({}){} ", tex.dest_type.name(), tex.op.name());
        let mut separator = "";
        for source in body.sources(inst) {
            let kind = body.tex_src_kind(source);
            self.out.push_str(separator);
            separator = ", ";
            self.source(state, body.src_def(source), tex_source_type(tex.op, kind));
            let _ = write!(self.out, " ({})", kind.name());
        }
        let mut extra = |out: &mut String, text: std::fmt::Arguments<'_>| {
            out.push_str(separator);
            separator = ", ";
            let _ = out.write_fmt(text);
        };
        let out = &mut self.out;
        if tex.is_gather_implicit_lod {
            extra(out, format_args!("implicit lod"));
        }
        if tex.op == TexOp::Tg4 {
            extra(out, format_args!("{} (gather_component)", tex.component));
        }
        if tex.tg4_offsets != DEFAULT_TG4_OFFSETS && (tex.op == TexOp::Tg4 || !self.options.mesa) {
            let [[a, b], [c, d], [e, f], [g, h]] = tex.tg4_offsets;
            extra(out, format_args!("{{ ({a}, {b}), ({c}, {d}), ({e}, {f}), ({g}, {h}) }} (offsets)"));
        }
        if prints_texture_index(tex.op, body.tex_src(inst, TexSrcKind::TextureDeref).is_some()) {
            extra(out, format_args!("{} (texture)", tex.texture_index));
        }
        if prints_sampler_index(tex.op, body.tex_src(inst, TexSrcKind::SamplerDeref).is_some()) {
            extra(out, format_args!("{} (sampler)", tex.sampler_index));
        }
        if tex.texture_non_uniform {
            extra(out, format_args!("texture non-uniform"));
        }
        if tex.sampler_non_uniform {
            extra(out, format_args!("sampler non-uniform"));
        }
        if tex.is_sparse {
            extra(out, format_args!("sparse"));
        }
        if !self.options.mesa {
            self.tex_remark(body, inst);
        }
    }

    fn tex_remark(&mut self, body: &Body, inst: Inst) {
        let Some(tex) = body.tex(inst) else { return };
        let guess = guess_tex(&self.shader.types, body, inst, tex);
        if guess == *tex {
            return;
        }
        let out = &mut self.out;
        out.push_str("  //");
        let shape =
            |t: &crate::body::TexData| (t.dim, t.is_array, t.is_shadow, t.is_new_style_shadow, t.coord_components);
        if shape(tex) != shape(&guess) {
            let _ = write!(out, " dim={}", tex.dim.name());
            for (set, word) in
                [(tex.is_array, " array"), (tex.is_shadow, " shadow"), (tex.is_new_style_shadow, " new_style")]
            {
                out.push_str(if set { word } else { "" });
            }
            let _ = write!(out, " coords={}", tex.coord_components);
        }
        if tex.array_is_lowered_cube {
            out.push_str(" lowered_cube");
        }
        if tex.backend_flags != 0 {
            let _ = write!(out, " backend_flags=0x{:x}", tex.backend_flags);
        }
        for (word, value, guessed) in [
            ("texture", tex.texture_index, guess.texture_index),
            ("sampler", tex.sampler_index, guess.sampler_index),
            ("component", u32::from(tex.component), u32::from(guess.component)),
        ] {
            if value != guessed {
                let _ = write!(out, " {word}={value}");
            }
        }
    }

    fn intrinsic(
        &mut self,
        state: &BodyState<'_>,
        inst: Inst,
        op: IntrinsicOp,
        num_components: u8,
        indices: &[i32; crate::body::MAX_INDICES],
    ) {
        let body = state.body;
        self.out.push('@');
        self.out.push_str(op.name());
        if body.num_sources(inst) > 0 {
            self.out.push_str(" (");
            for (i, source) in body.sources(inst).enumerate() {
                self.out.push_str(if i > 0 { ", " } else { "" });
                let base = intrinsic_source_type(self.shader, body, inst, op, i);
                self.source(state, body.src_def(source), base);
            }
            self.out.push(')');
        }
        let kinds = op.info().indices;
        if !kinds.is_empty() {
            self.out.push_str(" (");
            for (i, (&kind, &value)) in kinds.iter().zip(indices).enumerate() {
                self.out.push_str(if i > 0 { ", " } else { "" });
                push_index(&mut self.out, self.shader.stage, op, num_components, kind, value);
            }
            self.out.push(')');
        }
        let mode = io_mode(op);
        if mode != VariableModes::NONE {
            let (base, component) = (body.index(inst, IndexKind::Base), body.index(inst, IndexKind::Component));
            if let Some(variable) = self.io.find(mode, base, component, self.options.mesa) {
                self.out.push_str("  // ");
                self.out.push_str(self.names.get(variable));
            }
        }
        if !self.options.mesa {
            let dest = body.inst_def(inst).map(|d| body.num_components(d));
            let source = |i: usize| {
                (i < body.num_sources(inst))
                    .then(|| body.src(inst, i))
                    .filter(|&d| body.has_def(d))
                    .map(|d| body.num_components(d))
            };
            if num_components != guess_num_components(op, dest, source) {
                let _ = write!(self.out, "  // num_components={num_components}");
            }
        }
    }

    fn jump(&mut self, state: &BodyState<'_>, inst: Inst, kind: JumpKind) {
        let number = |block| state.numbers[block];
        let _ = match kind {
            JumpKind::Break => self.out.write_str("break"),
            JumpKind::Continue => self.out.write_str("continue"),
            JumpKind::Return => self.out.write_str("return"),
            JumpKind::Halt => self.out.write_str("halt"),
            JumpKind::Goto(target) => write!(self.out, "goto b{}", number(target)),
            JumpKind::GotoIf { then_block, else_block } => {
                let _ = write!(self.out, "goto b{} if ", number(then_block));
                if let Some(source) = state.body.sources(inst).next() {
                    self.source(state, state.body.src_def(source), BaseType::Invalid);
                }
                write!(self.out, " else b{}", number(else_block))
            }
        };
    }

    fn parallel_copy(&mut self, state: &BodyState<'_>, inst: Inst) {
        let body = state.body;
        for (i, entry) in body.copies(inst).unwrap_or(&[]).iter().enumerate() {
            self.out.push_str(if i > 0 { "; " } else { "" });
            match entry.dest.expand() {
                Some(def) => self.destination(state, def),
                None => {
                    let _ = write!(self.out, "*%{}", body.src(inst, entry.dest_register as usize).as_u32());
                }
            }
            self.out.push_str(" = ");
            self.out.push_str(if entry.source_is_register { "*" } else { "" });
            self.source(state, body.src(inst, entry.source as usize), BaseType::Invalid);
        }
    }
}

/// The parent deref of a deref; `None` for a variable, a cast, and if the parent is not a deref.
fn parent_deref(body: &Body, inst: Inst) -> Option<Inst> {
    if let InstData::Deref { kind: DerefKind::Var(_) | DerefKind::Cast { .. }, .. } = *body.inst(inst) {
        return None;
    }
    if body.num_sources(inst) == 0 {
        return None;
    }
    let parent = body.try_def_inst(body.src(inst, 0))?;
    matches!(body.inst(parent), InstData::Deref { .. }).then_some(parent)
}
