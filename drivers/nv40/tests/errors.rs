//! Codes of errors that shaders in fixtures do not cause.

use tgsi_compiler::TargetError;
use tgsi_driver_nv40::Nv40Error;
use tgsi_driver_nv40::container::ContainerError;
use tgsi_driver_nv40::isa::EncodeError;

#[test]
fn errors_without_a_fixture_have_codes() {
    let encoding = EncodeError::Conflict("fields");
    let container = ContainerError::Ambiguous("a".to_owned(), "A".to_owned());
    let errors: [(Nv40Error, &str); 3] = [
        (Nv40Error::NoEntryPoint, "nv40-no-entry-point"),
        (encoding.into(), "nv40-encoding"),
        (container.into(), "nv40-container"),
    ];
    for (error, name) in errors {
        assert_eq!(TargetError::code(&error).name, name);
        assert_eq!(error.inst(), None);
    }
}
