//! The JSON Schemas of every file that skewlab writes or reads.
//!
//! Adding one: derive `JsonSchema` on the type, give it a line in [`all`], and run
//! `UPDATE_SCHEMA=1 cargo test --test integration schema`, which writes it into `schemas/`.

use schemars::JsonSchema;
use serde_json::Value;

use crate::agent_server::profile::{ClientFile, ServerFile};
use crate::record::attach::{ATTACH_SCHEMA, AttachReport};
use crate::record::bench::{BENCH_SCHEMA, Bench};
use crate::record::certificate::{CERTIFICATE_SCHEMA, Certificate};
use crate::record::client_bench::{CLIENT_BENCH_SCHEMA, ClientBench};
use crate::record::comparison::{COMPARISON_SCHEMA, Comparison};
use crate::record::contract::{CONTRACT_SCHEMA, ContractReport};
use crate::record::explore::{EXPLORE_SCHEMA, ExploreReport};
use crate::record::feed_bench::{FEED_BENCH_SCHEMA, FeedBench};
use crate::record::idle::{IDLE_SCHEMA, IdleReport};
use crate::record::interleaved::{INTERLEAVED_SCHEMA, Interleaved};
use crate::record::live_bench::{LIVE_BENCH_SCHEMA, LIVE_IDLE_SCHEMA, LiveBench, LiveIdleReport};
use crate::record::run::{Run, SCHEMA};
use crate::scenario::capsule::CapsuleFile;
use crate::scenario::{FeedScenarioFile, ScenarioFile};
use crate::schema::{Language, document};
use crate::session_feed::profile::VariantFile;

/// The schema of one kind of file.
#[derive(Debug)]
pub struct FileSchema {
    /// What a person types: `run`, `scenario`.
    pub name: &'static str,
    /// Its file: with the version that the results carry, if they do.
    pub file: String,
    /// What it describes, in one sentence.
    pub title: &'static str,
    /// The schema.
    pub schema: Value,
}

impl FileSchema {
    /// As it is committed.
    pub fn text(&self) -> String {
        format!("{:#}\n", self.schema)
    }
}

/// Every schema: the results, then what a person writes.
pub fn all() -> Vec<FileSchema> {
    vec![
        result::<Run>(SCHEMA, "The result of `skewlab matrix`: run.json"),
        result::<Bench>(BENCH_SCHEMA, "The result of `skewlab bench fanout`: bench.json"),
        result::<FeedBench>(FEED_BENCH_SCHEMA, "The result of `skewlab bench feed`"),
        result::<IdleReport>(IDLE_SCHEMA, "The result of `skewlab idle`"),
        result::<AttachReport>(ATTACH_SCHEMA, "The result of `skewlab attach`"),
        result::<LiveBench>(LIVE_BENCH_SCHEMA, "The result of `skewlab live bench fanout`"),
        result::<LiveIdleReport>(LIVE_IDLE_SCHEMA, "The result of `skewlab live idle`"),
        result::<Certificate>(CERTIFICATE_SCHEMA, "A certificate of `skewlab calibrate`"),
        result::<ClientBench>(CLIENT_BENCH_SCHEMA, "The result of `skewlab bench client`"),
        result::<Interleaved>(INTERLEAVED_SCHEMA, "The result of `skewlab bench … --against`"),
        result::<Comparison>(COMPARISON_SCHEMA, "The result of `skewlab compare`"),
        result::<ContractReport>(CONTRACT_SCHEMA, "The result of `skewlab contract`"),
        result::<ExploreReport>(EXPLORE_SCHEMA, "The result of `skewlab explore`"),
        written::<ScenarioFile>("scenario", "A scenario of the agent server"),
        written::<CapsuleFile>("capsule", "A capsule of `skewlab explore`"),
        written::<FeedScenarioFile>("feed-scenario", "A scenario of the session feed"),
        written::<ServerFile>("server-profile", "A server profile"),
        written::<ClientFile>("client-profile", "A client profile"),
        written::<VariantFile>("feed-variant", "A variant of the session feed"),
    ]
}

/// Of a result, named after the schema that it carries: `skewlab.run/1`.
fn result<T: JsonSchema>(carried: &'static str, title: &'static str) -> FileSchema {
    let (family, version) = carried.rsplit_once('/').unwrap_or((carried, "0"));
    let name = family.rsplit('.').next().unwrap_or(family);
    let mut schema = document::<T>(&format!("urn:skewlab:{name}:v{version}"), title, Language::Json);
    if let Some(own) = schema.pointer_mut("/properties/schema").and_then(Value::as_object_mut) {
        own.insert("description".to_owned(), "Name and version of this shape.".into());
        own.insert("const".to_owned(), carried.into());
    }
    FileSchema { name, file: format!("{name}.v{version}.schema.json"), title, schema }
}

/// Of what a person writes; it has no version, the reader is the one in the binary.
fn written<T: JsonSchema>(name: &'static str, title: &'static str) -> FileSchema {
    let schema = document::<T>(&format!("urn:skewlab:{name}"), title, Language::Toml);
    FileSchema { name, file: format!("{name}.schema.json"), title, schema }
}
