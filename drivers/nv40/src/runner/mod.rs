//! stub
pub(crate) fn run_program(_: crate::program::Program) -> Box<dyn tgsi_compiler::Runner> {
    unimplemented!()
}
