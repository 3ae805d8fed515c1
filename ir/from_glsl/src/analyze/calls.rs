//! Calls: overload resolution among the functions of the shader and of the language.

use std::rc::Rc;

use tgsi_ir::body::TexOp;
use tgsi_ir::shader::ShaderStage;

use super::scopes::Entity;
use super::{Analyzer, SemanticError};
use crate::builtins::functions::{self, BuiltinOp, Overloads, Signature, TextureArgument};
use crate::compute::fold;
use crate::extension::Extension;
use crate::program::{Direction, ExprId, ExprKind, FunctionId, Storage};
use crate::symbol::Symbol;
use crate::token::TokenRange;
use crate::types::{Scalar, TypeData, TypeId};
use crate::version::Since;

/// Versions in which one conversion is better than another.
const BEST_MATCHES: Since = Since::new(400, 310).or(&[
    Extension::ARBGpuShader5,
    Extension::ARBGpuShaderInt64,
    Extension::EXTGpuShader5,
    Extension::MESAShaderIntegerFunctions,
    Extension::EXTShaderImplicitConversions,
]);

/// Versions with gathers whose offsets are not constant.
const GATHER_OFFSETS: Since =
    Since::new(400, 320).or(&[Extension::ARBGpuShader5, Extension::EXTGpuShader5, Extension::OESGpuShader5]);

/// The number of overloads that a hint lists.
const SHOWN_CANDIDATES: usize = 6;

/// The function of a candidate.
#[derive(Clone, Copy, Debug)]
enum Callee {
    Function(FunctionId),
    /// The subroutine uniform, and the function of its type.
    Subroutine(ExprId, FunctionId),
    /// The operation, whether it has effects, and the version that removed it.
    Builtin(BuiltinOp, bool, Option<u16>),
}

/// A function that a call may mean.
#[derive(Clone, Debug)]
struct Candidate {
    callee: Callee,
    parameters: Vec<(TypeId, Direction)>,
    result: TypeId,
}

impl Candidate {
    fn of_language(signature: &Signature) -> Candidate {
        Candidate {
            callee: Callee::Builtin(signature.op, signature.has_effects, signature.removed),
            parameters: signature.parameters.clone(),
            result: signature.result,
        }
    }
}

impl Analyzer<'_> {
    /// Types `name(arguments)`.
    pub(super) fn call(&mut self, name: Symbol, arguments: &[ExprId], tokens: TokenRange) -> ExprId {
        match self.scopes.find(name) {
            Some(&Entity::Type(ty)) => return self.constructor(ty, arguments, tokens),
            Some(&Entity::Variable(id)) if self.is_subroutine(self.program.variable(id).ty) => {
                let callee = self.read(id, tokens);
                return self.subroutine_call(callee, arguments, tokens);
            }
            Some(&Entity::Variable(id)) if !self.scopes.has_function_names() => {
                let (name, at) = (self.spelling(name), self.program.variable(id).tokens);
                if !self.program.variable(id).ty.is_error() {
                    self.report_with(SemanticError::NotAFunction { name }, tokens, at, "the variable");
                }
                return self.error_expr(tokens);
            }
            Some(Entity::Functions(_) | Entity::Variable(_) | Entity::Member(..) | Entity::Block(_)) | None => {}
        }
        let overloads = self.overloads(name);
        let is_missing = !matches!(&*overloads, Overloads::Found(_)) && self.scopes.functions(name).is_empty();
        if is_missing && !self.reported_functions.insert(name) {
            return self.error_expr(tokens);
        }
        let own = self.scopes.functions(name);
        let mut candidates: Vec<Candidate> = own.iter().map(|&id| self.candidate(id)).collect();
        match &*overloads {
            // In desktop versions the functions of the shader hide those of the language, as those of any outer scope.
            Overloads::Found(_) if !candidates.is_empty() && !self.version().is_es() => {}
            Overloads::Found(signatures) => candidates.extend(signatures.iter().map(Candidate::of_language)),
            Overloads::Unavailable(since) if candidates.is_empty() => {
                let what = format!("`{}`", self.interner.spelling(name));
                let (version, remedy) = (self.version().to_string(), since.remedy(self.version()));
                self.report(SemanticError::NeedsVersion { what, version, remedy }, tokens);
                return self.error_expr(tokens);
            }
            Overloads::Removed(since) if candidates.is_empty() => {
                let what = format!("`{}`", self.interner.spelling(name));
                let (version, remedy) = (self.version().to_string(), format!("version {since} removed it"));
                self.report(SemanticError::NeedsVersion { what, version, remedy }, tokens);
                return self.error_expr(tokens);
            }
            Overloads::OtherStage(stages) if candidates.is_empty() => {
                let what = format!("`{}`", self.interner.spelling(name));
                self.report(SemanticError::WrongStage { what, stages: stages.to_string() }, tokens);
                return self.error_expr(tokens);
            }
            Overloads::Unknown if candidates.is_empty() => {
                self.undeclared(name, tokens);
                return self.error_expr(tokens);
            }
            Overloads::Unavailable(_) | Overloads::Removed(_) | Overloads::OtherStage(_) | Overloads::Unknown => {}
        }
        if arguments.iter().any(|&argument| self.ty(argument).is_error()) {
            return self.error_expr(tokens);
        }
        match self.resolve(&candidates, arguments) {
            Ok(candidate) => self.call_of(candidate.clone(), arguments, tokens),
            Err(is_ambiguous) => {
                let own = candidates.iter().find_map(|candidate| match candidate.callee {
                    Callee::Function(id) | Callee::Subroutine(_, id) => Some(self.program.function(id).tokens),
                    Callee::Builtin(..) => None,
                });
                let at = own.unwrap_or_default();
                let types: Vec<String> = arguments.iter().map(|&a| self.type_name(self.ty(a))).collect();
                let (name, arguments) = (self.spelling(name), types.join(", "));
                let candidates = self.describe(&name, &candidates);
                let error = if is_ambiguous {
                    SemanticError::Ambiguous { name, arguments, candidates }
                } else {
                    SemanticError::NoOverload { name, arguments, candidates }
                };
                let hides = own.is_some() && matches!(&*overloads, Overloads::Found(_)) && !self.version().is_es();
                let note =
                    if hides { "this function hides those of the language" } else { "a function with this name" };
                self.report_with(error, tokens, at, note);
                self.error_expr(tokens)
            }
        }
    }

    /// The functions of the language with a name.
    pub(super) fn overloads(&mut self, name: Symbol) -> Rc<Overloads> {
        if let Some(found) = self.overloads.get(&name) {
            return Rc::clone(found);
        }
        let unit = self.unit;
        let spelling = self.interner.spelling(name);
        let found = functions::overloads(spelling, unit.version, unit.enabled, unit.stage, &mut self.program.types);
        let found = Rc::new(found);
        self.overloads.insert(name, Rc::clone(&found));
        found
    }

    fn candidate(&self, id: FunctionId) -> Candidate {
        let function = self.program.function(id);
        let parameters = function.parameters.iter().map(|parameter| (parameter.ty, parameter.direction)).collect();
        Candidate { callee: Callee::Function(id), parameters, result: function.result }
    }

    /// The candidate that a call means, or whether there are several.
    fn resolve<'c>(&self, candidates: &'c [Candidate], arguments: &[ExprId]) -> Result<&'c Candidate, bool> {
        let types: Vec<TypeId> = arguments.iter().map(|&argument| self.ty(argument)).collect();
        let of_count = || candidates.iter().filter(|candidate| candidate.parameters.len() == types.len());
        if let Some(exact) = of_count().find(|c| c.parameters.iter().zip(&types).all(|(&(ty, _), &of)| ty == of)) {
            return Ok(exact);
        }
        let takes = |candidate: &&Candidate| {
            candidate.parameters.iter().zip(&types).all(|(&(ty, direction), &of)| {
                (!direction.reads() || self.converts(of, ty)) && (!direction.writes() || self.converts(ty, of))
            })
        };
        let fitting: Vec<&Candidate> = of_count().filter(takes).collect();
        match fitting.as_slice() {
            [] => Err(false),
            [only] => Ok(only),
            several => self.best(several, &types).ok_or(true),
        }
    }

    /// The candidate that is at least as good as all others in every parameter, and better in one.
    fn best<'c>(&self, candidates: &[&'c Candidate], types: &[TypeId]) -> Option<&'c Candidate> {
        if !self.has(&BEST_MATCHES) {
            return None;
        }
        let better = |a: &Candidate, b: &Candidate| {
            let ranks = a.parameters.iter().zip(&b.parameters).zip(types);
            let mut is_better = false;
            for ((&(to_a, _), &(to_b, _)), &from) in ranks {
                if self.is_better(from, to_b, to_a) {
                    return false;
                }
                is_better |= self.is_better(from, to_a, to_b);
            }
            is_better
        };
        let is_best = |&&a: &&&'c Candidate| candidates.iter().all(|&b| std::ptr::eq(a, b) || better(a, b));
        candidates.iter().find(is_best).copied()
    }

    /// Whether one conversion is better than another. Some are neither better nor worse.
    fn is_better(&self, from: TypeId, a: TypeId, b: TypeId) -> bool {
        if from == a || from == b {
            return from == a && from != b;
        }
        let types = &self.program.types;
        matches!((types.scalar(a), types.scalar(b)), (Some(Scalar::Float), Some(Scalar::Double)))
    }

    fn call_of(&mut self, candidate: Candidate, arguments: &[ExprId], tokens: TokenRange) -> ExprId {
        let mut operands = Vec::with_capacity(arguments.len());
        let mut is_valid = true;
        for (number, (&argument, &(ty, direction))) in arguments.iter().zip(&candidate.parameters).enumerate() {
            if let Callee::Function(id) | Callee::Subroutine(_, id) = candidate.callee {
                let access = self.program.function(id).parameters.get(number).map(|parameter| parameter.access);
                is_valid &= self.check_argument_access(argument, access.unwrap_or_default());
            }
            if direction.writes() {
                is_valid &= self.target(argument, direction.reads());
                operands.push(argument);
            } else {
                operands.push(self.converted(argument, ty).unwrap_or(argument));
            }
        }
        let mut types = candidate.parameters.iter().map(|&(ty, _)| ty).chain([candidate.result]);
        if !is_valid || !types.all(|ty| self.count_copy(ty, tokens)) {
            return self.error_expr(tokens);
        }
        let writes = candidate.parameters.iter().any(|(_, direction)| direction.writes());
        let result = candidate.result;
        if let Callee::Builtin(BuiltinOp::Ftransform, ..) = candidate.callee {
            return self.fixed_transform(tokens);
        }
        let (kind, value, has_effects) = match candidate.callee {
            Callee::Function(id) => {
                self.record_call(id, tokens);
                // A body that is not known yet may write anything.
                let has_effects = self.effects.get(id.0 as usize).copied().flatten().unwrap_or(true);
                (ExprKind::Call(id, self.add_list(&operands)), None, has_effects)
            }
            Callee::Subroutine(callee, id) => {
                self.record_call(id, tokens);
                (ExprKind::CallSubroutine(callee, id, self.add_list(&operands)), None, true)
            }
            Callee::Builtin(op, has_effects, removed) => {
                if !self.check_operands(op, &operands, tokens) {
                    return self.error_expr(tokens);
                }
                if let Some(removed) = removed {
                    let version = format!("{}.{:02}", removed / 100, removed % 100);
                    self.report(SemanticError::Deprecated { what: "this function".to_owned(), version }, tokens);
                }
                // Version 1.10 has no calls in constant expressions.
                let may_fold = !writes && self.version().is_at_least(120, 100);
                let constants: Option<Vec<_>> = operands.iter().map(|&operand| self.constant_of(operand)).collect();
                let constants = constants.filter(|_| may_fold && !operands.is_empty());
                let value = constants.and_then(|constants| fold::builtin(&self.program.types, op, result, &constants));
                (ExprKind::Builtin(op, self.add_list(&operands)), value, has_effects)
            }
        };
        if has_effects && let Some(function) = &mut self.function {
            function.has_effects = true;
        }
        let expr = self.add_folded(kind, result, tokens, &operands, value);
        if has_effects || writes {
            self.set_effects(expr);
        }
        expr
    }

    /// Types the call of the function that a subroutine uniform selects.
    pub(super) fn subroutine_call(&mut self, callee: ExprId, arguments: &[ExprId], tokens: TokenRange) -> ExprId {
        let TypeData::Subroutine(ty) = self.program.types.get(self.ty(callee)) else {
            let name = self.type_name(self.ty(callee));
            self.report(SemanticError::NotAFunction { name }, tokens);
            return self.error_expr(tokens);
        };
        if arguments.iter().any(|&argument| self.ty(argument).is_error()) {
            return self.error_expr(tokens);
        }
        let id = FunctionId(ty.function);
        let candidate = Candidate { callee: Callee::Subroutine(callee, id), ..self.candidate(id) };
        if self.resolve(std::slice::from_ref(&candidate), arguments).is_ok() {
            return self.call_of(candidate, arguments, tokens);
        }
        let types: Vec<String> = arguments.iter().map(|&a| self.type_name(self.ty(a))).collect();
        let (name, arguments, at) = (self.spelling(ty.name), types.join(", "), self.program.function(id).tokens);
        let candidates = self.describe(&name, &[candidate]);
        let error = SemanticError::NoOverload { name, arguments, candidates };
        self.report_with(error, tokens, at, "the subroutine type");
        self.error_expr(tokens)
    }

    /// Checks what functions of the language need of their arguments besides types. Returns whether they have it.
    fn check_operands(&mut self, op: BuiltinOp, operands: &[ExprId], tokens: TokenRange) -> bool {
        match op {
            BuiltinOp::Texture(texture) => {
                let is_gather = texture.op == TexOp::Tg4;
                for (&meaning, &operand) in texture.arguments().iter().zip(operands) {
                    let what = match meaning {
                        TextureArgument::Offset if is_gather && self.has(&GATHER_OFFSETS) => continue,
                        TextureArgument::Offset => "the offset of a lookup",
                        TextureArgument::Offsets => "an offset of a gather",
                        TextureArgument::Component => "the component of a gather",
                        _ => continue,
                    };
                    let tokens = self.tokens_of(operand);
                    if self.constant_of(operand).is_none() {
                        self.report(SemanticError::NotConstant { what }, tokens);
                        return false;
                    }
                    let component = self.integer_of(operand).filter(|_| meaning == TextureArgument::Component);
                    if let Some(index) = component.filter(|component| !(0..4).contains(component)) {
                        let error = SemanticError::IndexRange { index, ty: "a texel".to_owned(), length: 4 };
                        self.report(error, tokens);
                        return false;
                    }
                }
                true
            }
            BuiltinOp::EmitVertex | BuiltinOp::EndPrimitive => match operands.first() {
                Some(&stream) => match self.integer_of(stream) {
                    Some(number) => {
                        self.check_stream(u32::try_from(number).unwrap_or(u32::MAX), tokens);
                        true
                    }
                    None => {
                        let at = self.tokens_of(stream);
                        self.report(SemanticError::NotConstant { what: "the stream" }, at);
                        false
                    }
                },
                None => true,
            },
            BuiltinOp::InterpolateAtCentroid | BuiltinOp::InterpolateAtSample | BuiltinOp::InterpolateAtOffset => {
                let Some(&input) = operands.first() else { return true };
                let is_input = self.is_input(input);
                if !is_input {
                    self.report(SemanticError::NotAnInput, self.tokens_of(input));
                }
                is_input
            }
            BuiltinOp::Barrier if self.program.stage == ShaderStage::TessCtrl => self.check_place("barrier", tokens),
            BuiltinOp::BeginInterlock => self.check_interlock(true, tokens),
            BuiltinOp::EndInterlock => self.check_interlock(false, tokens),
            _ => self.check_memory_operands(op, operands),
        }
    }

    /// Checks that all invocations execute a function: its call is in `main`, in no other statement, and before each
    /// `return`.
    fn check_place(&mut self, name: &'static str, tokens: TokenRange) -> bool {
        let is_in_place = self.function.as_ref().is_some_and(|function| {
            let name = self.interner.spelling(self.program.function(function.id).name);
            let is_outermost = function.breakable.is_empty() && function.branches == 0;
            name == "main" && is_outermost && !function.has_returned
        });
        if !is_in_place {
            self.report(SemanticError::BarrierPlace { name }, tokens);
        }
        is_in_place
    }

    /// Checks that the begin and the end of an interlock occur once, in this order.
    fn check_interlock(&mut self, is_begin: bool, tokens: TokenRange) -> bool {
        let name = if is_begin { "beginInvocationInterlock" } else { "endInvocationInterlock" };
        if !self.check_place(name, tokens) {
            return false;
        }
        let (begun, ended) = self.interlock;
        let problem = match is_begin {
            true if begun => Some("occurs a second time"),
            false if ended => Some("occurs a second time"),
            false if !begun => Some("occurs without a begin before it"),
            _ => None,
        };
        if let Some(problem) = problem {
            self.report(SemanticError::InterlockOrder { name, problem }, tokens);
            return false;
        }
        self.interlock = (true, !is_begin);
        true
    }

    /// Whether an expression is an input, or an element or field of one.
    fn is_input(&self, mut expr: ExprId) -> bool {
        loop {
            expr = match self.program.expr(expr).kind {
                ExprKind::Variable(id) => return self.program.variable(id).storage == Storage::Input,
                ExprKind::Index(base, _) | ExprKind::Field(base, _) => base,
                ExprKind::Swizzle(base, _) if self.version().is_at_least(440, 320) => base,
                _ => return false,
            };
        }
    }

    /// `ftransform()`: exactly the product that a shader can write itself, so that both give the same bits.
    fn fixed_transform(&mut self, tokens: TokenRange) -> ExprId {
        let names = ["gl_ModelViewProjectionMatrix", "gl_Vertex"];
        let operands = names.map(|name| {
            let name = self.interner.intern(name);
            match self.scopes.find(name) {
                Some(&Entity::Variable(id)) => self.read(id, tokens),
                _ => match self.builtin(name, tokens) {
                    Some(id) => self.read(id, tokens),
                    None => self.error_expr(tokens),
                },
            }
        });
        let [matrix, vertex] = operands;
        self.binary(crate::ast::BinaryOp::Mul, matrix, vertex, tokens)
    }

    /// Records that the current function calls another.
    fn record_call(&mut self, callee: FunctionId, tokens: TokenRange) {
        let Some(caller) = self.function.as_ref().map(|function| function.id) else { return };
        let count = self.calls.entry((caller, callee)).or_default();
        *count += 1;
        if *count == 1
            && let Some(function) = self.program.arenas.function.get_mut(caller.0 as usize)
        {
            function.callees.push((callee, tokens));
        }
    }

    /// The overloads for a hint.
    fn describe(&self, name: &str, candidates: &[Candidate]) -> Option<String> {
        if candidates.is_empty() {
            return None;
        }
        let shown = candidates.iter().take(SHOWN_CANDIDATES).map(|candidate| {
            let parameters = candidate.parameters.iter().map(|&(ty, direction)| {
                let prefix = match direction {
                    Direction::In => "",
                    Direction::Out => "out ",
                    Direction::InOut => "inout ",
                };
                format!("{prefix}{}", self.type_name(ty))
            });
            format!("{name}({})", parameters.collect::<Vec<_>>().join(", "))
        });
        let mut text = format!("there is {}", shown.collect::<Vec<_>>().join(", "));
        if candidates.len() > SHOWN_CANDIDATES {
            text.push_str(&format!(" and {} more", candidates.len() - SHOWN_CANDIDATES));
        }
        Some(text)
    }
}
