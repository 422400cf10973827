//! Unions. Pydantic's smart mode takes the member that fits best; for a verdict it is enough that one fits.
//! If none does, the errors of all are reported, each under the member's name.

use serde_json::Value;

use super::check::{Check, Escape};
use super::place::{At, Place};
use super::types::Type;
use super::vocabulary::Tables;

impl Check<'_> {
    /// `value` as any of `members`.
    pub(super) fn union(&mut self, members: &[Type], value: &Value, at: At<'_>) -> Result<(), Escape> {
        let quiet = std::mem::replace(&mut self.quiet, true);
        let mark = self.mark();
        for member in members {
            self.value(member, value, at)?;
            if self.mark() == mark {
                self.quiet = quiet;
                return Ok(());
            }
            self.forget(mark);
        }
        self.quiet = quiet;
        let tables = self.tables;
        for member in members {
            self.value(member, value, Some(&Place::key(at, label(member, tables))))?;
        }
        Ok(())
    }
}

/// What pydantic calls a member in the place of an error.
fn label<'t>(member: &Type, tables: &'t Tables) -> &'t str {
    match member {
        Type::Model(model) => &tables.models[*model].name,
        Type::Dict(_) => "dict[str,any]",
        Type::Class => "is-subclass[BaseModel]",
        Type::Str => "str",
        Type::Int(_) => "int",
        Type::Float(..) => "float",
        Type::Bool => "bool",
        _ => "",
    }
}
