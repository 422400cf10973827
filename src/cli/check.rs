//! `skewlab check`: what each deployed client would do with captured frames.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::args::{Check, Format};
use super::error::CliError;
use super::plan::catalogue;
use crate::agent_server::client::check;
use crate::agent_server::profile::{Catalogue, ClientChoice};
use crate::judge::ExitCode;
use crate::report::{CheckedFrame, check_table};
use crate::scenario::Glob;

pub(super) fn run(args: &Check) -> Result<ExitCode, CliError> {
    let catalogue = catalogue(args.profiles.as_ref())?;
    let clients = clients(&args.clients, &catalogue)?;
    let input: Box<dyn Read> = if args.frames.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        let read = |error| CliError::Read { path: args.frames.clone(), error };
        Box::new(File::open(&args.frames).map_err(read)?)
    };
    let mut frames = Vec::new();
    let mut bad = 0;
    let mut reader = BufReader::new(input);
    for number in 1_u64.. {
        let mut line = Vec::new();
        let read = reader.read_until(b'\n', &mut line);
        if read.map_err(|error| CliError::Read { path: args.frames.clone(), error })? == 0 {
            break;
        }
        match frame(&line) {
            Ok(None) => {}
            Ok(Some((name, raw))) => {
                let name = name.unwrap_or_else(|| format!("line {number}"));
                frames.push(CheckedFrame { name, clients: checked(&raw, &clients)? });
            }
            Err(why) => {
                bad += 1;
                eprintln!("{}:{number}: {why}; the line is left out", args.frames.display());
            }
        }
    }
    print(&frames, args.format)?;
    match (frames.is_empty(), bad) {
        (_, 1..) => Ok(ExitCode::Usage),
        (true, _) => Err(CliError::NothingRan(": the file has no frame; write one frame a line".to_owned())),
        _ => Ok(ExitCode::AllAsExpected),
    }
}

/// The clients asked for, each under the name asked for; every profile when none is named.
fn clients(asked: &[String], catalogue: &Catalogue) -> Result<Vec<(String, ClientChoice)>, CliError> {
    let every = ["*".to_owned()];
    let asked = if asked.is_empty() { &every[..] } else { asked };
    let mut names: Vec<String> = Vec::new();
    for name in asked {
        let glob = Glob::new(name).map_err(|e| CliError::Usage(format!("--clients {name}: {e:?}")))?;
        if glob.is_literal() {
            names.push(name.clone());
            continue;
        }
        let before = names.len();
        let all = catalogue.clients().abouts().map(|a| &a.name);
        names.extend(all.filter(|n| glob.matches(n)).cloned());
        if names.len() == before {
            return Err(CliError::Usage(format!(
                "--clients {name}: no client profile matches; `skewlab list clients` has all of them"
            )));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|n| seen.insert(n.clone()));
    names.into_iter().map(|n| Ok((n.clone(), catalogue.client(&n)?))).collect()
}

/// Name and raw text of a line; `None` for an empty one.
fn frame(line: &[u8]) -> Result<Option<(Option<String>, String)>, String> {
    let text = std::str::from_utf8(line).map_err(|e| format!("not UTF-8 at byte {}", e.valid_up_to()))?;
    let text = text.trim_end_matches(['\n', '\r']);
    if text.trim().is_empty() {
        return Ok(None);
    }
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        // A frame that is deeper, or holds a larger number, than a value can is for the clients to judge.
        Err(_) if serde_json::from_str::<IgnoredAny>(text).is_ok() => {
            return Ok(Some((None, text.to_owned())));
        }
        Err(error) => return Err(format!("not JSON ({error})")),
    };
    match (&value["raw"], &value["name"]) {
        (Value::String(raw), name) => Ok(Some((name.as_str().map(str::to_owned), raw.clone()))),
        (Value::Null, _) => Ok(Some((None, text.to_owned()))),
        _ => Err("`raw` must be the frame's text, a string".to_owned()),
    }
}

fn checked(
    raw: &str,
    clients: &[(String, ClientChoice)],
) -> Result<Vec<(String, crate::agent_server::client::Checked)>, CliError> {
    clients.iter().map(|(name, choice)| Ok((name.clone(), check(choice, raw)?))).collect()
}

fn print(frames: &[CheckedFrame], format: Format) -> Result<(), CliError> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match format {
        Format::Table => check_table(frames, &mut out)?,
        Format::Json => {
            let frames: Vec<Value> = frames.iter().map(as_json).collect();
            writeln!(out, "{}", json!({"frames": frames}))?;
        }
    }
    Ok(out.flush()?)
}

fn as_json(frame: &CheckedFrame) -> Value {
    let of = |c: &crate::agent_server::client::Checked| serde_json::to_value(c).unwrap_or_default();
    let clients: Map<String, Value> = frame.clients.iter().map(|(n, c)| (n.clone(), of(c))).collect();
    json!({"name": frame.name, "clients": clients})
}
