//! The order of the functions in a module. Alike ones side by side are told in fewer bytes: compression finds the
//! one before, and says what is different. That is a twentieth of what a page fetches, for nothing at run time.
//!
//! wasm-opt sorts functions by name, so here they get names by which that puts alike ones side by side.

use anyhow::{Context, Result};
use std::{collections::HashMap, fmt::Write as _, ops::Range};
use wasm_encoder::{Module, NameMap, NameSection, RawSection};
use wasmparser::{KnownCustom, Name, Parser, Payload, TypeRef};

/// How much of a function's beginning says what it is like.
const BEGINNING_BYTES: usize = 48;

/// The same module, in which each function is called by where it comes from and then by how it begins.
pub fn named_by_likeness(module: &[u8]) -> Result<Vec<u8>> {
    let (names, bodies, imported) = functions(module)?;
    let names: HashMap<_, _> = names.into_iter().collect();
    let mut likenesses = NameMap::new();
    for (place, body) in bodies.iter().enumerate() {
        let index = imported + place as u32;
        let name = names.get(&index).copied().unwrap_or_default();
        likenesses.append(index, &likeness(name, body, place));
    }
    let mut section = NameSection::new();
    section.functions(&likenesses);
    let mut copy = copied(module)?;
    copy.section(&section);
    Ok(copy.finish())
}

/// The same module without names and other notes, which no browser reads.
pub fn without_notes(module: &[u8]) -> Result<Vec<u8>> {
    Ok(copied(module)?.finish())
}

fn copied(module: &[u8]) -> Result<Module> {
    let mut copy = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload.context("a module")?;
        if let (Some((id, range)), false) =
            (payload.as_section(), matches!(payload, Payload::CustomSection(_)))
        {
            copy.section(&RawSection { id, data: part(module, range)? });
        }
    }
    Ok(copy)
}

fn part(module: &[u8], range: Range<u64>) -> Result<&[u8]> {
    module.get(usize::try_from(range.start)?..usize::try_from(range.end)?).context("a module that is cut off")
}

type Functions<'a> = (Vec<(u32, &'a str)>, Vec<&'a [u8]>, u32);

/// Their names, their bodies, and how many are imported before those.
fn functions(module: &[u8]) -> Result<Functions<'_>> {
    let (mut names, mut bodies, mut imported) = (Vec::new(), Vec::new(), 0);
    for payload in Parser::new(0).parse_all(module) {
        match payload.context("a module")? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(part(module, body.range())?),
            Payload::CustomSection(custom) => {
                let KnownCustom::Name(sections) = custom.as_known() else { continue };
                for section in sections {
                    if let Name::Function(all) = section? {
                        for naming in all {
                            let naming = naming?;
                            names.push((naming.index, naming.name));
                        }
                    }
                }
            }
            _ => {}
        }
    }
    Ok((names, bodies, imported))
}

/// Instances of a generic function differ in the hash behind its name.
fn likeness(name: &str, body: &[u8], place: usize) -> String {
    let mut likeness = name.split("17h").next().unwrap_or_default().to_owned();
    likeness.push('~');
    for byte in body.iter().take(BEGINNING_BYTES) {
        // Writing to a string cannot fail.
        write!(likeness, "{byte:02x}").ok();
    }
    // No two may be called the same.
    write!(likeness, "~{place}").ok();
    likeness
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{CodeSection, Function, FunctionSection, Instruction, TypeSection, ValType};

    /// Two instances of one function with another between them.
    fn module() -> Vec<u8> {
        let (mut types, mut functions, mut code) =
            (TypeSection::new(), FunctionSection::new(), CodeSection::new());
        types.ty().function([], [ValType::I32]);
        let mut names = NameMap::new();
        for (index, (name, value)) in
            [("_ZN3one17h0011223344556677E", 7), ("_ZN5other17h8899aabbccddeeffE", 8), ("_ZN3one17hffE", 9)]
                .into_iter()
                .enumerate()
        {
            functions.function(0);
            let mut body = Function::new([]);
            body.instruction(&Instruction::I32Const(value)).instruction(&Instruction::End);
            code.function(&body);
            names.append(index as u32, name);
        }
        let mut section = NameSection::new();
        section.functions(&names);
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&code).section(&section);
        module.finish()
    }

    #[test]
    fn instances_of_one_function_are_called_alike() {
        let named = named_by_likeness(&module()).unwrap();
        let (mut names, bodies, _) = functions(&named).unwrap();
        assert_eq!(bodies.len(), 3);
        names.sort_by_key(|(_, name)| *name);
        let order: Vec<_> = names.iter().map(|(index, _)| *index).collect();
        assert_eq!(order, [0, 2, 1], "{names:?}");
    }

    #[test]
    fn notes_go_and_the_rest_stays() {
        let (before, after) = (module(), without_notes(&module()).unwrap());
        let (names, bodies, _) = functions(&after).unwrap();
        assert!(names.is_empty() && after.len() < before.len());
        assert_eq!(bodies, functions(&before).unwrap().1);
    }
}
