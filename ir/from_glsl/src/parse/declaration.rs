//! Declarations, at global scope and in functions.

use super::expression::Allow;
use super::feature::Feature;
use super::function::Definition;
use super::scope::NameKind;
use super::types::Declares;
use super::{ParseError, Parser, words};
use crate::ast::{Condition, Declaration, Declarator, Item, List, Qualifier, TypeName, TypeSpec};
use crate::keyword::Keyword;
use crate::symbol::Symbol;
use crate::token::{Punct, TokenKind};

/// The scope of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Global,
    Function,
}

/// The kind of statement or declaration that the next tokens begin, in a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Start {
    Declaration,
    /// A type: a declaration, or an expression that begins with a constructor.
    Type,
    Expression,
}

/// A declaration that was parsed.
pub(super) enum Declared {
    Declaration(Declaration),
    /// A function with its body.
    Function(Definition),
    /// None could be read.
    Nothing,
}

impl Parser<'_> {
    /// Parses the whole unit.
    pub(super) fn unit(&mut self) {
        // Statements outside functions often follow an extra `}`: one error is enough.
        let mut is_outside = false;
        while self.peek(0) != TokenKind::End && !self.findings.is_full() {
            self.statement = self.at;
            if self.global_separator(&mut is_outside) {
                continue;
            }
            if self.is_global_statement() {
                if !is_outside {
                    self.fail(&ParseError::StatementOutsideFunction, self.here());
                }
                (self.failed, is_outside) = (true, true);
                self.bump();
            } else {
                match self.declaration(Place::Global) {
                    Declared::Declaration(declaration) => {
                        let id = self.ast.add_declaration(declaration);
                        self.ast.items.push(Item::Declaration(id));
                    }
                    Declared::Function(Definition { prototype, body, end }) => {
                        self.ast.items.push(Item::Function { prototype, body, end });
                        is_outside = false;
                    }
                    Declared::Nothing => {}
                }
            }
            if self.failed {
                self.recover_global();
                if self.at == self.statement {
                    self.bump();
                }
            }
        }
    }

    /// Steps over a `;` or a closing token at global scope, if one is next.
    fn global_separator(&mut self, is_outside: &mut bool) -> bool {
        match self.peek(0) {
            TokenKind::Punct(Punct::Semicolon) => {
                if !self.version.is_at_least(460, crate::version::NEVER) {
                    self.report(&ParseError::ExtraSemicolon, self.here());
                }
            }
            TokenKind::Punct(Punct::RightBrace | Punct::RightParen | Punct::RightBracket) => {
                if !*is_outside {
                    let close = self.quote(self.at);
                    self.report(&ParseError::Unopened { close }, self.here());
                }
                *is_outside = true;
            }
            _ => return false,
        }
        self.bump();
        true
    }

    /// Whether a statement is next, at global scope.
    pub(super) fn is_global_statement(&self) -> bool {
        if let Some(word) = self.keyword(0)
            && words::is_statement(word)
        {
            return true;
        }
        let Some(name) = self.identifier(0) else { return false };
        if self.scopes.get(name) == Some(NameKind::Type)
            || self.keyword(0).is_some()
            || self.later_qualifier().is_some()
        {
            return false;
        }
        match self.peek(1) {
            TokenKind::Punct(Punct::LeftBrace) => false,
            TokenKind::Punct(Punct::LeftBracket) => !self.is_array_declaration(),
            TokenKind::Punct(Punct::LeftParen) => {
                let is_parameter =
                    self.keyword(2).is_some_and(|word| words::is_type(word) || words::is_qualifier(word));
                let is_named = self.identifier(2).is_some() && self.identifier(3).is_some();
                let is_empty = self.peek(2) == TokenKind::Punct(Punct::RightParen)
                    && self.peek(3) == TokenKind::Punct(Punct::LeftBrace);
                // `name(float`: a function without result type, but `name(float(` is a call.
                let is_call = self.peek(3) == TokenKind::Punct(Punct::LeftParen);
                !(is_parameter && !is_call || is_named || is_empty)
            }
            TokenKind::Punct(_) | TokenKind::Number => true,
            TokenKind::Identifier | TokenKind::Keyword(_) | TokenKind::End => false,
        }
    }

    /// Whether the next tokens are a name, dimensions and another name. Reads no further than the end of a statement.
    fn is_array_declaration(&self) -> bool {
        let (mut open, mut at) = (0u32, 1);
        loop {
            match self.peek(at) {
                TokenKind::Punct(Punct::LeftBracket) => open += 1,
                TokenKind::Punct(Punct::RightBracket) => open = open.saturating_sub(1),
                TokenKind::Punct(Punct::Semicolon | Punct::LeftBrace | Punct::RightBrace) | TokenKind::End => {
                    return false;
                }
                TokenKind::Identifier if open == 0 => return true,
                _ if open == 0 => return false,
                _ => {}
            }
            at += 1;
        }
    }

    /// The kind of statement or declaration that the next tokens begin, in a function.
    pub(super) fn start(&self) -> Start {
        match self.keyword(0) {
            Some(word) if words::is_type(word) => return Start::Type,
            Some(word) if words::is_declaration(word) => return Start::Declaration,
            Some(_) if self.is_reserved_prefix() => return Start::Declaration,
            _ => {}
        }
        let Some(name) = self.identifier(0) else { return Start::Expression };
        if self.scopes.get(name) == Some(NameKind::Type) {
            return Start::Type;
        }
        let is_layout = self.peek(1) == TokenKind::Punct(Punct::LeftParen);
        let is_declaration = self.identifier(1).is_some()
            || self.later_qualifier().is_some() && !is_layout
            || self.peek(1) == TokenKind::Punct(Punct::LeftBracket) && self.is_array_declaration();
        if is_declaration { Start::Declaration } else { Start::Expression }
    }

    /// Parses a declaration.
    pub(super) fn declaration(&mut self, place: Place) -> Declared {
        let first = self.at;
        if self.is_precision_statement() {
            return self.precision();
        }
        let qualifiers = self.qualifiers();
        if self.failed {
            return Declared::Nothing;
        }
        let follows = self.peek(1);
        if let Some(name) = self.identifier(0) {
            let is_type = self.scopes.get(name) == Some(NameKind::Type);
            match follows {
                TokenKind::Punct(Punct::LeftBrace) => return self.block(qualifiers, first),
                TokenKind::Punct(Punct::Semicolon | Punct::Comma) if qualifiers.len > 0 && !is_type => {
                    return self.qualified_names(qualifiers, first);
                }
                TokenKind::Punct(Punct::Assign) if qualifiers.len > 0 && !is_type => {
                    self.fail(&ParseError::MissingType { name: self.quote(self.at) }, self.here());
                    return Declared::Nothing;
                }
                TokenKind::Punct(Punct::LeftParen) if place == Place::Global && !is_type => {
                    self.report(&ParseError::MissingType { name: self.quote(self.at) }, self.here());
                    let result = TypeSpec { name: TypeName::Error, dimensions: List::EMPTY, tokens: self.here() };
                    return self.function(qualifiers, result, place);
                }
                _ => {}
            }
        } else if self.is(Punct::Semicolon) && qualifiers.len > 0 {
            return self.qualified_names(qualifiers, first);
        } else if self.peek(0) != TokenKind::End && qualifiers.len == 0 && !self.is_type_start() {
            self.fail(&ParseError::ExpectedDeclaration { found: self.quote(self.at) }, self.here());
            return Declared::Nothing;
        }
        let ty = self.type_spec();
        self.declaration_of_type(qualifiers, ty, place)
    }

    /// Whether the next token begins a type.
    fn is_type_start(&self) -> bool {
        let is_keyword = |word: Keyword| words::is_type(word) || word == Keyword::Struct;
        self.identifier(0).is_some() || self.keyword(0).is_some_and(is_keyword)
    }

    /// Parses the rest of a declaration, after its type.
    pub(super) fn declaration_of_type(&mut self, qualifiers: List<Qualifier>, ty: TypeSpec, place: Place) -> Declared {
        self.check_declared_type(&ty);
        if !self.failed && self.identifier(0).is_some() && self.peek(1) == TokenKind::Punct(Punct::LeftParen) {
            return self.function(qualifiers, ty, place);
        }
        self.check_storage(qualifiers, place);
        // The grammar has `float, a;` too: a type without a name, then names.
        let is_bare = (self.failed || !self.eat(Punct::Comma)) && self.is(Punct::Semicolon);
        let declarators = if is_bare || self.failed { List::EMPTY } else { self.declarators(&ty, Declares::Variables) };
        self.expect_semicolon("`;`, `,`, `=` or `[`");
        Declared::Declaration(Declaration::Variables { qualifiers, ty, declarators })
    }

    /// Reports `in` and `out` at global scope in versions that have them for parameters only.
    fn check_storage(&mut self, qualifiers: List<Qualifier>, place: Place) {
        let found = self.find_qualifier(qualifiers, &[Keyword::In, Keyword::Out]);
        if let Some((_, tokens)) = found.filter(|_| place == Place::Global) {
            self.need(Feature::ShaderInOut, tokens);
        }
    }

    /// Whether the next tokens set a default precision, also in versions without.
    pub(super) fn is_precision_statement(&self) -> bool {
        self.keyword(0) == Some(Keyword::Precision)
            || self.identifier(0).and_then(|name| self.later_keyword(name)) == Some(Keyword::Precision)
                && self.identifier(1).and_then(Symbol::keyword).is_some_and(words::is_precision)
    }

    /// Parses `precision highp float;`.
    fn precision(&mut self) -> Declared {
        let first = self.at;
        if self.keyword(0).is_none() {
            self.need_keyword(Keyword::Precision, self.here());
        }
        self.bump();
        let precision = match self.word(0).and_then(Symbol::keyword) {
            Some(word @ (Keyword::Lowp | Keyword::Mediump | Keyword::Highp)) => word,
            _ => {
                self.fail_expected("`lowp`, `mediump` or `highp`");
                return Declared::Nothing;
            }
        };
        self.bump();
        let ty = self.type_spec();
        let tokens = self.since(first);
        self.expect_semicolon("`;`");
        Declared::Declaration(Declaration::Precision { precision, ty, tokens })
    }

    /// Parses the names and the `;` after qualifiers without a type.
    fn qualified_names(&mut self, qualifiers: List<Qualifier>, first: u32) -> Declared {
        let mut names = Vec::new();
        while !self.is(Punct::Semicolon) {
            let token = self.here();
            let Some(name) = self.expect_name("a name") else { break };
            names.push((name, token));
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        let tokens = self.since(first);
        self.check_storage(qualifiers, Place::Global);
        self.expect_semicolon("`;` or `,`");
        let names = self.ast.add_list(&names);
        Declared::Declaration(Declaration::Qualifiers { qualifiers, names, tokens })
    }

    /// Parses an interface block, from its name.
    fn block(&mut self, qualifiers: List<Qualifier>, first: u32) -> Declared {
        let Some(name) = self.expect_name("the name of a block") else { return Declared::Nothing };
        let tokens = self.since(first);
        let words = [Keyword::Uniform, Keyword::Buffer, Keyword::In, Keyword::Out];
        let feature = match self.find_qualifier(qualifiers, &words) {
            Some((Keyword::In | Keyword::Out, _)) => Some(Feature::InOutBlocks),
            Some((Keyword::Uniform, _)) => Some(Feature::UniformBlocks),
            // Where `buffer` is a keyword, there are such blocks.
            Some(_) => None,
            None => {
                if self.find_qualifier(qualifiers, &[Keyword::Varying, Keyword::Attribute, Keyword::Shared]).is_none() {
                    let name = self.quote(tokens.last);
                    self.report(&ParseError::UnqualifiedBlock { name }, tokens);
                }
                None
            }
        };
        let is_in_version = feature.is_none_or(|feature| feature.since().holds(self.version, self.extensions));
        if let Some(feature) = feature {
            self.need(feature, tokens);
        }
        let members = self.members("block", tokens, Declares::BlockMembers);
        let instance =
            if !self.failed && self.identifier(0).is_some() { self.block_instance(is_in_version) } else { None };
        if instance.is_none() {
            self.declare_members(members);
        }
        self.expect_semicolon("a name or `;`");
        Declared::Declaration(Declaration::Block { qualifiers, name, members, instance, tokens })
    }

    /// Parses the name of a block's variable and its dimensions.
    fn block_instance(&mut self, has_blocks: bool) -> Option<Declarator> {
        let tokens = self.here();
        let name = self.expect_name("a name")?;
        if has_blocks {
            self.need(Feature::BlockInstances, tokens);
        }
        let dimensions = self.dimensions();
        self.scopes.declare(name, NameKind::Value);
        Some(Declarator { name, dimensions, initializer: None, tokens })
    }

    /// Declares the members of a block without instance name: they are variables.
    fn declare_members(&mut self, members: List<crate::ast::Members>) {
        let lists: Vec<List<Declarator>> = self.ast.list(members).iter().map(|members| members.declarators).collect();
        for declarator in lists.into_iter().flat_map(|list| self.ast.list(list)) {
            self.scopes.declare(declarator.name, NameKind::Value);
        }
    }

    /// Parses a condition of a loop: an expression or the declaration of a variable.
    pub(super) fn condition(&mut self) -> Condition {
        let exprs = self.ast.exprs.len();
        let start = if self.failed { Start::Expression } else { self.start() };
        let (qualifiers, ty) = match start {
            Start::Expression => return Condition::Expr(self.expression(Allow::Comma)),
            Start::Type => {
                let ty = self.type_spec();
                if !self.failed && self.is(Punct::LeftParen) {
                    return Condition::Expr(self.expression_with_type(ty, exprs));
                }
                (List::EMPTY, ty)
            }
            Start::Declaration => (self.qualifiers(), self.type_spec()),
        };
        self.check_declared_type(&ty);
        let tokens = self.here();
        let mut declarators = List::EMPTY;
        if let Some(name) = self.expect_name("a name") {
            if matches!(self.peek(0), TokenKind::Punct(Punct::RightParen | Punct::Semicolon)) {
                let name = self.quote(tokens.first);
                self.fail(&ParseError::ConditionWithoutValue { name }, tokens);
            } else {
                self.expect(Punct::Assign, "`=`");
            }
            let initializer = (!self.failed).then(|| self.expression(Allow::Initializer));
            self.scopes.declare(name, NameKind::Value);
            declarators = self.ast.add_list(&[Declarator { name, dimensions: List::EMPTY, initializer, tokens }]);
        }
        let declaration = Declaration::Variables { qualifiers, ty, declarators };
        Condition::Declaration(self.ast.add_declaration(declaration))
    }
}
