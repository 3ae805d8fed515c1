//! Code that is compiled ahead of time.

use tgsi_compiler::{AuxiliaryFile, Code, ObjectFile};

use crate::error::CpuError;
use crate::form::CodeForm;
use crate::native::{processor, write_object};
use crate::object::{Extensions, header};
use crate::options::Options;
use crate::program::{Program, compile};

/// The target of code that is compiled ahead of time.
#[derive(Clone, Default, Debug)]
pub(crate) struct AheadOfTime {
    symbol: Option<String>,
    /// The processor and system; those of this process if `None`.
    triple: Option<String>,
    extensions: Option<Extensions>,
}

impl AheadOfTime {
    /// Sets an option; returns whether the option exists.
    ///
    /// # Errors
    /// The value is invalid for the option.
    pub fn set(&mut self, option: &str, form: &mut CodeForm) -> Result<bool, String> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = Some(value).filter(|value| !value.is_empty());
        match (name, value) {
            ("code", None) => *form = CodeForm::Code,
            ("assembly", None) => *form = CodeForm::Assembly,
            ("symbol", Some(symbol)) if !is_identifier(symbol) => {
                return Err(format!("symbol={symbol}: not an identifier of C"));
            }
            ("symbol", symbol) => self.symbol = symbol.map(str::to_owned),
            ("target_triple", triple) => self.triple = triple.map(str::to_owned),
            ("target_cpu", None) => self.extensions = None,
            ("target_cpu", Some("x86-64-v2")) => self.extensions = Some(Extensions::X86_64V2),
            ("target_cpu", Some("x86-64-v3")) => self.extensions = Some(Extensions::X86_64V3),
            ("target_cpu", Some(other)) => {
                return Err(format!("target_cpu={other}: the choices are x86-64-v2 and x86-64-v3"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Checks that code can be generated for the processor.
    ///
    /// # Errors
    /// The reason.
    pub fn check(&self) -> Result<(), String> {
        match (&self.triple, self.extensions) {
            // This process's processor is checked when code is generated.
            (None, None) => Ok(()),
            (triple, extensions) => processor(triple.as_deref(), extensions).map(drop),
        }
    }

    /// Generates the code. `text` is the text of the program's shader.
    pub fn emit(&self, form: CodeForm, text: &str, program: &Program, options: Options) -> Result<Code, CpuError> {
        let symbol = self.symbol.clone().unwrap_or_else(|| {
            let stage = program.stage().name().to_lowercase();
            format!("tgsic_{stage}_shader")
        });
        let processor = processor(self.triple.as_deref(), self.extensions).map_err(CpuError::NotWritten)?;
        // The loader compiles the text, so the code must be generated from it: all numbers must match.
        let shader = tgsi_ir::text::parse(text)
            .map_err(|errors| CpuError::NotWritten(errors.first().map(ToString::to_string).unwrap_or_default()))?;
        let read = compile(&shader, Options { machine_code: false, ..options })?;
        let bytes =
            write_object(&read.program, text, &processor, &symbol, form, options).map_err(CpuError::NotWritten)?;
        if form != CodeForm::Object {
            return Ok(Code::Text(String::from_utf8_lossy(&bytes).into_owned()));
        }
        let header = header(&symbol, program.stage(), &processor.isa().triple().to_string());
        let auxiliary_files = vec![AuxiliaryFile { extension: "h", text: header }];
        Ok(Code::Object(Box::new(ObjectFile { bytes, size: read.size(), auxiliary_files })))
    }
}

/// Returns whether a name is an identifier of C and C++ that is not reserved.
fn is_identifier(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
        && !KEYWORDS.split(' ').any(|keyword| keyword == name)
}

/// Reserved words of C and C++.
const KEYWORDS: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t \
    char16_t char32_t class compl concept const consteval constexpr constinit const_cast continue co_await \
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern false \
    float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or \
    or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof \
    static static_assert static_cast struct switch template this thread_local throw true try typedef typeid \
    typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq";
