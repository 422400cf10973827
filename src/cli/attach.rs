//! `skewlab attach`: emulated clients at a server that somebody else runs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args as ClapArgs;

use super::address::{address, uri, wrong};
use super::args::Format;
use super::bench_client;
use super::error::CliError;
use super::interrupt;
use super::key::key;
use super::plan::catalogue;
use super::shown::show_and_keep;
use crate::agent_server::client::Client;
use crate::judge::{ExitCode, attach as judge};
use crate::report;
use crate::run::attach::{AttachPlan, attach};

const EXPECTED: &str = "expected http://127.0.0.1:PORT";

/// Attach emulated clients to a server that somebody else runs.
#[derive(Debug, ClapArgs)]
pub(super) struct Attach {
    /// The server: http://127.0.0.1:PORT
    #[arg(value_name = "URL")]
    url: String,
    /// The conversation to subscribe to
    #[arg(long, value_name = "ID")]
    conversation: String,
    /// How many clients. Released servers since 1.22.1 take 50 subscribers a conversation, their own included, so 49
    /// clients at most: they close the rest with 1013. A server without that cap takes as many as are named
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    clients: u32,
    /// What they are: a profile or a release, with a callback list after a slash if need be
    #[arg(long, value_name = "CLIENT", default_value = "python-1.58.2")]
    profile: String,
    /// How long to look once all have joined: 60s, 500ms, 2m
    #[arg(long = "for", value_name = "TIME", default_value = "60s", value_parser = bench_client::duration, allow_hyphen_values = true)]
    lasting: Duration,
    /// Message of the user that starts one turn; nobody starts one without it
    #[arg(long, value_name = "TEXT")]
    say: Option<String>,
    /// Environment variable that holds the session API key
    #[arg(long, value_name = "VAR", conflicts_with = "key_file")]
    key_env: Option<String>,
    /// File that holds the session API key and nothing else
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Let the server be on another machine
    #[arg(long)]
    allow_remote: bool,
    /// Folder with more profiles
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// Write the JSON into this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub(super) fn run(args: &Attach) -> Result<ExitCode, CliError> {
    let (addr, authority) = server(&args.url, args.allow_remote)?;
    let choice = catalogue(args.profiles.as_ref())?.client(&args.profile)?;
    // A client that cannot be built is an error of its profile, before anything is dialled.
    Client::new(&choice.profile, choice.list.as_deref())?;
    let plan = AttachPlan {
        addr,
        authority,
        conversation: conversation(&args.conversation)?,
        choice,
        clients: args.clients,
        lasting: args.lasting,
        say: args.say.clone(),
        key: key(args.key_env.as_deref(), args.key_file.as_deref())?,
    };
    let report = judge::report(attach(&plan, &interrupt::flag())?);
    show_and_keep(&report, args.out.as_deref(), args.format, report::attach_json, report::attach_table)?;
    let code = judge::exit_code(&report);
    if code == ExitCode::NothingRan {
        anstream::eprintln!("nothing streamed: start a turn, or let `--say TEXT` do it");
    }
    Ok(code)
}

/// The address, and host and port as they were typed.
fn server(url: &str, allow_remote: bool) -> Result<(SocketAddr, String), CliError> {
    let uri = uri(url, &["http", "ws"], EXPECTED)?;
    if uri.query().is_some() {
        return Err(wrong(format!("it has a query; a key comes from --key-env or --key-file; {EXPECTED}")));
    }
    if !matches!(uri.path(), "" | "/") {
        return Err(wrong(format!("it has a path; {EXPECTED}, and the profile knows the rest")));
    }
    let addr = address(&uri, allow_remote, EXPECTED)?;
    let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
    Ok((addr, authority))
}

/// An id as it can stand in a path.
fn conversation(id: &str) -> Result<String, CliError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if id.is_empty() || !id.chars().all(fits) {
        let what = "an id has letters, digits and hyphens, as in 0a1b2c3d-0000-4000-8000-000000000000";
        return Err(CliError::Usage(format!("--conversation: {what}")));
    }
    Ok(id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_server_of_this_machine() {
        for good in ["http://127.0.0.1:8000", "http://127.0.0.1:8000/", "ws://[::1]:8000"] {
            let (addr, authority) = server(good, false).unwrap();
            assert!(addr.ip().is_loopback() && addr.port() == 8000 && good.contains(&authority), "{good}");
        }
        for (bad, why) in [
            ("127.0.0.1:8000", "no scheme"),
            ("https://127.0.0.1:8000", "TLS"),
            ("ftp://127.0.0.1:8000", "scheme `ftp`"),
            ("http://127.0.0.1:8000/sockets/events/s3cret", "path"),
            ("http://127.0.0.1:8000?session_api_key=s3cret", "--key-env"),
            ("http://s3cret@127.0.0.1:8000", "before the host"),
            ("http://192.0.2.7:8000", "--allow-remote"),
            ("http://127.0.0.1:0", "1 to 65535"),
        ] {
            let told = server(bad, false).unwrap_err().to_string();
            assert!(told.contains(why) && !told.contains("s3cret"), "{bad}: {told}");
        }
        assert_eq!(server("http://192.0.2.7", true).unwrap().0.to_string(), "192.0.2.7:80");
    }

    #[test]
    fn a_conversation_stays_in_its_place_of_the_path() {
        assert_eq!(conversation("0a1b-c").unwrap(), "0a1b-c");
        for bad in ["", "a/b", "a?b=c", "a b"] {
            assert!(conversation(bad).unwrap_err().to_string().contains("--conversation"), "{bad}");
        }
    }
}
