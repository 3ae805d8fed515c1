//! Functions, and the blocks that they consist of.

use spirv::Op;

use super::declare::Reader;
use super::{Block, Function, Id, Merge, Set};
use crate::error::SpirvError;
use crate::grammar::form;
use crate::types::{TypeData, TypeId};
use crate::words::Inst;

/// The instruction of `NonSemantic.Shader.DebugInfo.100` that gives the following ones a line.
const DEBUG_LINE: u32 = 103;
const DEBUG_NO_LINE: u32 = 104;

impl Reader<'_> {
    /// An instruction of a function.
    pub(super) fn in_function(&mut self, op: Op, inst: &Inst<'_>) {
        match op {
            Op::Function => {
                self.end_function();
                let number = self.module.functions.len() as u32;
                let id = inst.word(1);
                self.module.define(id, Id::Function(number), inst, self.findings);
                let (result, ty) = (self.type_at(inst, 0), self.type_at(inst, 3));
                let span = inst.span();
                let function = Function { id, result, ty, parameters: Vec::new(), blocks: Vec::new(), span };
                self.function = Some((function, false));
            }
            Op::FunctionEnd => self.end_function(),
            Op::FunctionParameter => {
                let ty = self.type_at(inst, 0);
                self.module.define(inst.word(1), Id::Value(ty), inst, self.findings);
                if let Some((function, _)) = &mut self.function {
                    function.parameters.push((inst.word(1), ty));
                }
            }
            Op::Label => self.label(inst),
            _ => self.in_block(op, inst),
        }
    }

    fn label(&mut self, inst: &Inst<'_>) {
        let label = inst.word(0);
        let function = self.module.functions.len() as u32;
        let Some((open, is_open)) = &mut self.function else { return };
        let block = open.blocks.len() as u32;
        if std::mem::replace(is_open, true) {
            self.findings.add(SpirvError::Truncated, inst.span());
        }
        let next = (inst.at + inst.words.len() as u32 + 1, inst.number + 1);
        open.blocks.push(Block { label, first: next, last: (0, 0), merge: Merge::None, has_phis: false });
        self.module.define(label, Id::Label { function, block }, inst, self.findings);
        // The reach of `OpLine` ends with a block.
        self.line(inst, [0; 3]);
    }

    fn in_block(&mut self, op: Op, inst: &Inst<'_>) {
        if let Some(form) = form(inst.op).filter(|form| form.has_result) {
            let (ty, id) = match form.has_type {
                true => (self.type_at(inst, 0), inst.word(1)),
                false => (TypeId::VOID, inst.word(0)),
            };
            self.module.define(id, Id::Value(ty), inst, self.findings);
        }
        if op == Op::ExtInst && self.module.id(inst.word(2)) == Id::Set(Set::DebugInfo) {
            let number = |word: usize| self.module.integer(inst.word(word)).unwrap_or(0) as u32;
            match inst.word(3) {
                DEBUG_LINE => self.line(inst, [inst.word(4), number(5), number(7)]),
                DEBUG_NO_LINE => self.line(inst, [0; 3]),
                _ => {}
            }
        }
        // Instructions without effect may be between blocks, too.
        if matches!(op, Op::ExtInst | Op::ExtInstWithForwardRefsKHR)
            && matches!(self.module.id(inst.word(2)), Id::Set(Set::DebugInfo | Set::NonSemantic))
        {
            return;
        }
        let Some((function, is_open)) = &mut self.function else { return };
        let Some(block) = function.blocks.last_mut().filter(|_| *is_open) else {
            let error = SpirvError::Instruction { name: crate::grammar::name(inst.op), why: "it is not in a block" };
            self.findings.add(error, inst.span());
            return;
        };
        match op {
            Op::SelectionMerge => block.merge = Merge::Selection { merge: inst.word(0) },
            Op::LoopMerge => block.merge = Merge::Loop { merge: inst.word(0), target: inst.word(1) },
            Op::Phi => block.has_phis = true,
            Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Kill
            | Op::TerminateInvocation
            | Op::Unreachable
            | Op::IgnoreIntersectionKHR
            | Op::TerminateRayKHR
            | Op::EmitMeshTasksEXT => {
                block.last = (inst.at, inst.number);
                *is_open = false;
            }
            _ => {}
        }
    }

    /// Compares a function with its type.
    fn check_type(&mut self, function: &Function) {
        let why = match self.module.types.get(function.ty) {
            // An error was reported.
            TypeData::Error => return,
            TypeData::Function { result, .. } if *result != function.result => {
                "the result is not that of the function type"
            }
            TypeData::Function { parameters, .. } => {
                if parameters.iter().eq(function.parameters.iter().map(|(_, ty)| ty)) {
                    return;
                }
                "the parameters are not those of the function type"
            }
            _ => "the type is not one of functions",
        };
        self.findings.add(SpirvError::Types { op: "OpFunction".to_owned(), why }, function.span);
    }

    /// Ends the function that is open.
    pub(super) fn end_function(&mut self) {
        let Some((mut function, is_open)) = self.function.take() else { return };
        if is_open {
            self.findings.add(SpirvError::Truncated, function.span);
            function.blocks.pop();
        }
        self.check_type(&function);
        self.module.functions.push(function);
    }
}
