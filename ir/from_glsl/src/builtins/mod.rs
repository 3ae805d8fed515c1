//! Functions and variables of the language: tables of rows, and their lookup by name.

pub(crate) mod formats;
pub(crate) mod functions;
#[cfg(test)]
pub(crate) mod manual;
pub(crate) mod stages;
pub(crate) mod variables;
