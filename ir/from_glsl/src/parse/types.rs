//! Types, array dimensions, and the members of structs and blocks.

use super::feature::Feature;
use super::scope::NameKind;
use super::{ParseError, Parser, expression::Allow, words};
use crate::ast::{Declarator, Dimension, List, Members, StructId, StructSpec, TypeName, TypeSpec};
use crate::keyword::{Keyword, Meaning};
use crate::symbol::Symbol;
use crate::token::{Punct, TokenKind, TokenRange};

/// Which declarators are parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Declares {
    /// Variables: in scope after their initialisers.
    Variables,
    /// Members, which have no initialisers.
    Members,
    /// Members of a block, which are in scope unless the block has an instance name.
    BlockMembers,
}

impl Parser<'_> {
    /// Parses a type. Its tokens are those of the head for a struct that is defined here.
    pub(super) fn type_spec(&mut self) -> TypeSpec {
        let first = self.at;
        let name = self.type_name();
        let head = match name {
            TypeName::Struct(StructId(id)) => self.ast.structs.get(id as usize).map(|spec| spec.tokens),
            _ => None,
        };
        let dimensions = self.dimensions();
        TypeSpec { name, dimensions, tokens: head.unwrap_or_else(|| self.since(first)) }
    }

    /// Parses a type that declares something, not that of a constructor.
    pub(super) fn declared_type(&mut self) -> TypeSpec {
        let ty = self.type_spec();
        self.check_declared_type(&ty);
        ty
    }

    /// Warns of dimensions in a version that has them after the name only.
    pub(super) fn check_declared_type(&mut self, ty: &TypeSpec) {
        let since = Feature::ArrayTypes.since();
        if let Some(dimension) = self.ast.list(ty.dimensions).first()
            && !since.holds(self.version, self.extensions)
        {
            let (version, remedy) = (self.version, since.remedy(self.version));
            self.report(&ParseError::EarlyArrayType { version, remedy }, dimension.tokens);
        }
    }

    fn type_name(&mut self) -> TypeName {
        if self.failed {
            return TypeName::Error;
        }
        match self.keyword(0) {
            Some(Keyword::Struct) => return TypeName::Struct(self.struct_spec()),
            Some(Keyword::Unsigned) => {
                let is_reserved = self.peek(0) == TokenKind::Identifier;
                self.bump();
                if self.keyword(0) == Some(Keyword::Int) {
                    self.bump();
                } else {
                    self.fail_expected("`int`");
                }
                return if is_reserved || self.failed { TypeName::Error } else { TypeName::Keyword(Keyword::Uint) };
            }
            Some(word) if words::is_type(word) => {
                let is_reserved = self.peek(0) == TokenKind::Identifier;
                self.bump();
                return if is_reserved { TypeName::Error } else { TypeName::Keyword(word) };
            }
            _ => {}
        }
        let Some(name) = self.identifier(0) else {
            self.fail_expected("a type");
            return TypeName::Error;
        };
        let here = self.here();
        self.bump();
        match name.keyword().filter(|_| self.scopes.get(name).is_none()) {
            Some(word) if self.is_reserved(word) => TypeName::Error,
            Some(word) if words::is_type(word) => {
                self.need_keyword(word, here);
                TypeName::Error
            }
            _ => TypeName::Named(name),
        }
    }

    /// Parses `[...]...`, which may be absent.
    pub(super) fn dimensions(&mut self) -> List<Dimension> {
        if self.failed || !self.is(Punct::LeftBracket) {
            return List::EMPTY;
        }
        let mut dimensions = Vec::new();
        while !self.failed && self.is(Punct::LeftBracket) {
            if !self.enter() {
                break;
            }
            let open = self.here();
            self.bump();
            let length = (!self.is(Punct::RightBracket)).then(|| self.expression(Allow::Assignment));
            self.close(Punct::RightBracket, open, "`]`");
            self.leave();
            let tokens = self.since(open.first);
            if dimensions.len() == 1 {
                self.need(Feature::ArraysOfArrays, tokens);
            }
            dimensions.push(Dimension { length, tokens });
        }
        self.ast.add_list(&dimensions)
    }

    /// Parses names with dimensions and initialisers, up to the end of the declaration.
    pub(super) fn declarators(&mut self, ty: &TypeSpec, declares: Declares) -> List<Declarator> {
        let mut declarators = Vec::new();
        loop {
            let tokens = self.here();
            let Some(name) = self.expect_name("a name") else { break };
            declarators.push(self.declarator(ty, name, tokens, declares));
            if self.failed || !self.eat(Punct::Comma) {
                break;
            }
        }
        self.ast.add_list(&declarators)
    }

    /// Parses the rest of a declarator, after its name.
    pub(super) fn declarator(
        &mut self,
        ty: &TypeSpec,
        name: Symbol,
        tokens: TokenRange,
        declares: Declares,
    ) -> Declarator {
        let dimensions = self.dimensions();
        self.check_array_of_array(ty, dimensions);
        let mut initializer = None;
        if !self.failed && self.is(Punct::Assign) {
            if declares != Declares::Variables {
                let quoted = self.quote(tokens.first);
                self.report(&ParseError::MemberInitializer { name: quoted }, self.here());
            }
            self.bump();
            initializer = Some(self.expression(Allow::Initializer)).filter(|_| declares == Declares::Variables);
        }
        if declares == Declares::Variables {
            self.scopes.declare(name, NameKind::Value);
        }
        Declarator { name, dimensions, initializer, tokens }
    }

    /// Reports dimensions after a name whose type has dimensions too.
    pub(super) fn check_array_of_array(&mut self, ty: &TypeSpec, dimensions: List<Dimension>) {
        if ty.dimensions.len == 1
            && dimensions.len == 1
            && let Some(dimension) = self.ast.list(dimensions).first()
        {
            self.need(Feature::ArraysOfArrays, dimension.tokens);
        }
    }

    /// Parses a struct, from `struct` to `}`.
    fn struct_spec(&mut self) -> StructId {
        let first = self.at;
        self.bump();
        let is_named = !self.is(Punct::LeftBrace);
        let name = if is_named { self.expect_name("a name or `{`") } else { None };
        let tokens = self.since(first);
        let members = self.members("struct", tokens, Declares::Members);
        if let Some(name) = name {
            self.scopes.declare(name, NameKind::Type);
        }
        self.ast.structs.push(StructSpec { name, members, tokens });
        StructId(self.ast.structs.len() as u32 - 1)
    }

    /// Parses members in braces.
    pub(super) fn members(&mut self, what: &'static str, head: TokenRange, declares: Declares) -> List<Members> {
        let open = self.here();
        if self.failed || !self.is(Punct::LeftBrace) || !self.enter() {
            self.expect(Punct::LeftBrace, "`{`");
            return List::EMPTY;
        }
        self.bump();
        let outer = self.statement;
        let mut members = Vec::new();
        let mut is_empty = true;
        while !self.eat(Punct::RightBrace) {
            if self.peek(0) == TokenKind::End {
                self.fail_unclosed(open);
                break;
            }
            self.statement = self.at;
            is_empty = false;
            members.extend(self.member(declares));
            if self.failed {
                self.recover();
                if self.is(Punct::LeftBrace) {
                    self.skip_braces();
                }
                if self.at == self.statement {
                    self.bump();
                }
            }
        }
        self.statement = outer;
        self.leave();
        if is_empty && !self.failed {
            self.report(&ParseError::NoMembers { what }, head);
        }
        self.ast.add_list(&members)
    }

    /// Parses one declaration of members.
    fn member(&mut self, declares: Declares) -> Option<Members> {
        let qualifiers = self.qualifiers();
        let ty = self.declared_type();
        let declarators = self.declarators(&ty, declares);
        self.expect_semicolon("`;`, `,` or `[`");
        (declarators.len > 0).then_some(Members { qualifiers, ty, declarators })
    }

    /// Whether a word has no meaning in this version, but is a keyword of another, and is not declared.
    pub(super) fn later_keyword(&self, name: Symbol) -> Option<Keyword> {
        let keyword = name.keyword()?;
        let is_later = keyword.meaning(self.version, self.extensions) == Meaning::Identifier;
        (is_later && self.scopes.get(name).is_none()).then_some(keyword)
    }
}
