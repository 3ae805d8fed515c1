//! System values.

use tgsi::shader::Register;
use tgsi::tables::{File, Semantic};
use tgsi_ir::Inst;

use super::{Selector, Value};
use crate::consumers::options::Dialect;
use crate::consumers::virgl::rules;

impl Selector<'_> {
    pub(super) fn select_system_value(&mut self, inst: Inst, semantic: Semantic) {
        let Some(def) = self.body.inst_def(inst) else { return };
        let index = self.declared.system_value(semantic);
        let value = Value::new(Register::new(File::SystemValue, index));
        if self.options.dialect == Dialect::Virgl && rules::must_be_copied(semantic) {
            self.copy_to(def, value);
        } else {
            self.bind_or_move(def, value);
        }
    }
}
