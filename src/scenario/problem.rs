//! What can be wrong inside a scenario file, one variant a kind of mistake.

/// One kind of mistake. The text says what is wrong; [`Problem::help`] says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The file is no TOML.
    #[error("this is no TOML: {0}")]
    Syntax(String),
    /// No `question` at all.
    #[error("the scenario asks no question")]
    NoQuestion,
    /// Something stands before `question`.
    #[error("`{first}` stands before `question`")]
    QuestionNotFirst {
        /// The key that stands first.
        first: String,
    },
    /// A key that the table does not have.
    #[error("{table} has no key `{key}`")]
    UnknownKey {
        /// What was written.
        key: String,
        /// The table, ready to print.
        table: String,
        /// The nearest keys, or all.
        hint: String,
    },
    /// A key that has to be there.
    #[error("{table} lacks `{key}`")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// The table, ready to print.
        table: String,
    },
    /// A value of another type.
    #[error("`{key}` takes {expected}, not {found}")]
    WrongType {
        /// The key.
        key: String,
        /// What it takes, with its article.
        expected: &'static str,
        /// What was found, with its article.
        found: String,
    },
    /// A value that is of the right type and too small, too large or otherwise out of bounds.
    #[error("`{key}` takes {allowed}")]
    OutOfRange {
        /// The key.
        key: String,
        /// What is allowed.
        allowed: String,
    },
    /// An empty string or list.
    #[error("`{key}` is empty")]
    Empty {
        /// The key.
        key: String,
    },
    /// A server or client that no profile describes.
    #[error("{message}")]
    UnknownParty {
        /// The catalogue's words.
        message: String,
        /// The nearest names.
        hint: String,
    },
    /// A glob in `servers` or `clients` that matches nothing.
    #[error("no {what} matches `{pattern}`")]
    NoMatch {
        /// `server` or `client`.
        what: &'static str,
        /// The glob.
        pattern: String,
    },
    /// A pattern that matches none of the names that there can be.
    #[error("no {what} matches `{pattern}`")]
    MatchesNothing {
        /// What was looked for: `server`, `workload of this file`.
        what: &'static str,
        /// The pattern.
        pattern: String,
        /// The nearest names, or all.
        hint: String,
    },
    /// A table that no cell matches.
    #[error("no cell of this scenario matches this [[{list}]], whatever servers and clients are asked for")]
    PicksNothing {
        /// `expect`, `budget`.
        list: &'static str,
    },
    /// A table behind others of its list that match all of its cells.
    #[error("this [[{list}]] never counts: earlier ones match every cell that it matches")]
    Shadowed {
        /// `expect` or `known`.
        list: &'static str,
    },
    /// A definition that no cell has.
    #[error("{what} `{name}` is in no cell")]
    Unused {
        /// `workload` or `fault`.
        what: &'static str,
        /// Its name.
        name: String,
        /// What would put it to use, or take it away.
        hint: String,
    },
    /// A word from a closed list, or a name that this file defines.
    #[error("`{word}` is no {what}")]
    UnknownWord {
        /// What was looked for: `verdict`, `hop`, `workload of this file`.
        what: &'static str,
        /// What was written.
        word: String,
        /// The nearest words, or all.
        hint: String,
    },
    /// A frame mutation that does not read.
    #[error("`{step}` is no frame mutation")]
    BadMutation {
        /// The step that does not read.
        step: String,
    },
    /// A pattern that is no glob.
    #[error("`{pattern}` is no pattern: {message}")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// The glob reader's words.
        message: String,
    },
    /// Two of a kind that would share cells or cell ids.
    #[error("{what} `{name}` stands here twice")]
    Repeated {
        /// `workload` or `mutation`.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A scenario of a subject that the command does not run.
    #[error("this is a scenario of subject `{subject}`, which this command does not run")]
    OtherSubject {
        /// The subject.
        subject: String,
    },
    /// A workload of a session feed that streams nothing, or says twice what it streams.
    #[error("workload `{name}` needs one of `reply`, `tokens` and `shape`")]
    FeedSource {
        /// The workload.
        name: String,
    },
    /// A log that no session can leave, or steps that say twice where they end.
    #[error("{message}")]
    NoSession {
        /// What is wrong.
        message: String,
    },
    /// A fault or a flush policy that does not read.
    #[error("`{word}` is no {what}")]
    BadForm {
        /// `fault` or `flush policy`.
        what: &'static str,
        /// What was written.
        word: String,
        /// What there is.
        hint: String,
    },
    /// A fault at a chunk that no workload of the scenario streams.
    #[error("`{word}` can never come: no workload of this scenario streams so many chunks")]
    Unreached {
        /// The fault.
        word: String,
        /// How far the longest workload goes.
        hint: String,
    },
    /// A moment or a time that does not read, or two of them.
    #[error("`{word}` is no moment of a fault")]
    BadMoment {
        /// What was written.
        word: String,
        /// What would be right.
        expected: String,
    },
    /// A fault that cannot be there, or then, or for them.
    #[error("a fault of kind `{what}` {why}")]
    Misplaced {
        /// The kind.
        what: &'static str,
        /// What is wrong, and what is right.
        why: String,
    },
    /// A workload that streams nothing, or says twice what it streams.
    #[error("workload `{name}` needs either `tokens` or `generate`")]
    TokenSource {
        /// The workload.
        name: String,
    },
    /// A limit of a budget that does not read, or that no cost can be held against.
    #[error("{message}")]
    BadLimit {
        /// What is wrong.
        message: String,
        /// What would be right.
        hint: String,
    },
    /// A trait that no server profile has, or a value that it does not take.
    #[error("{message}")]
    BadTrait {
        /// The profile reader's words.
        message: String,
        /// The nearest names.
        hint: String,
    },
    /// A token without text and reasoning.
    #[error("this token has neither `text` nor `reasoning`")]
    BareToken,
    /// Arguments of a tool that are no JSON object.
    #[error("the arguments of a tool are the text of a JSON object")]
    NoArguments,
    /// An error that is not where one can be.
    #[error("nothing can follow an error, and one with a status can follow nothing")]
    ErrorPlace,
}

impl Problem {
    /// What would be right, or nothing where the problem says it already.
    pub fn help(&self) -> Option<String> {
        let fixed = match self {
            Problem::NoQuestion | Problem::QuestionNotFirst { .. } => {
                "the first line of a scenario is the question that it answers: question = \"...\""
            }
            Problem::BadLimit { hint, .. } if hint.is_empty() => {
                "write a number, or a comparison (<=, <, ==, >=, >) and an expression over T, N and S with + - * / ( ) \
                 ceil, floor, min and max: \"<= ceil(T/30)+1\""
            }
            Problem::UnknownKey { hint, .. }
            | Problem::UnknownParty { hint, .. }
            | Problem::BadTrait { hint, .. }
            | Problem::BadLimit { hint, .. }
            | Problem::BadForm { hint, .. }
            | Problem::Unreached { hint, .. }
            | Problem::MatchesNothing { hint, .. }
            | Problem::Unused { hint, .. }
            | Problem::UnknownWord { hint, .. } => hint,
            Problem::BadMoment { expected, .. } => expected,
            Problem::OtherSubject { .. } => "`skewlab matrix` and `skewlab plan` run both subjects",
            Problem::FeedSource { .. } => {
                "reply = \"text\", tokens = [{ text = \"Hel\" }], or shape = { events = 104, chunks = 93, steps = 2, texts = 1 }"
            }
            Problem::BadMutation { .. } => {
                "write -field, +field=value, field=value, field->name or !text, with blanks between steps"
            }
            Problem::BadPattern { .. } => "`*` matches within one name, `**` is a path component of its own",
            Problem::NoMatch { .. } => "globs are matched against the profile names; write a release in full",
            Problem::PicksNothing { .. } => {
                "each of its patterns names something, and no cell has all of it: correct them, or delete the table"
            }
            Problem::Shadowed { .. } => {
                "the first that matches a cell counts, so the special ones come first"
            }
            Problem::TokenSource { .. } => {
                "tokens = [{ text = \"Hel\" }], or generate = { count = 200, classes = [\"text\"], seed = 1 }"
            }
            Problem::BareToken => {
                "an empty token is written { text = \"\" }; { stall_s = 1 }, { tool = \"NAME\" } and { error = \"…\" } need none"
            }
            Problem::NoArguments => "write arguments = '{\"path\": \"a\"}'",
            _ => "",
        };
        (!fixed.is_empty()).then(|| fixed.to_owned())
    }
}
