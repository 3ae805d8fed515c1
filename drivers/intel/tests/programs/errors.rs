//! Codes of errors that shaders in fixtures do not cause.

use tgsi_compiler::TargetError;
use tgsi_driver_intel::IntelError;
use tgsi_driver_intel::isa::{Chip, EncodeError, InvalidInstruction, ProgramError};
use tgsi_registers::lower::LowerError;

#[test]
fn errors_without_a_fixture_have_codes() {
    let encoding = EncodeError { index: 3, reason: InvalidInstruction::Conflict("fields") };
    let too_many = IntelError::TooMany { what: "registers", found: 130, limit: 100, chip: Chip::Gen75 };
    let errors: [(IntelError, &str); 5] = [
        (IntelError::NoEntryPoint, "intel-no-entry-point"),
        (LowerError::Loop { inst: None }.into(), "intel-not-lowered"),
        (too_many, "intel-too-many"),
        (encoding.into(), "intel-encoding"),
        (ProgramError::TooFar(7).into(), "intel-branch"),
    ];
    for (error, name) in errors {
        assert_eq!(TargetError::code(&error).name, name);
        assert_eq!(error.inst(), None);
        assert!(!error.to_string().is_empty());
    }
}
