//! Patterns by axis: what `[[exclude]]`, `[[include]]`, `[[expect]]` and `[[known]]` pick cells with.

use super::pattern::Glob;

/// The names that one cell goes by, axis by axis.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The server: the release asked for and its profile.
    pub server: &'a [String],
    /// The client: as asked, its release and its profile, each with and without its callback list.
    pub client: &'a [String],
    /// The workload.
    pub workload: &'a str,
    /// The mutation; of a session feed the fault.
    pub mutation: &'a str,
    /// The name of what goes wrong; of a session feed that is its mutation, and this is empty.
    pub fault: &'a str,
    /// The flush policy of a session feed; empty where there is none.
    pub policy: &'a str,
}

/// Patterns by axis; an axis without any matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Axes {
    /// Patterns of which one has to match one name of the server.
    pub server: Vec<Glob>,
    /// The same for the client.
    pub client: Vec<Glob>,
    /// The same for the workload.
    pub workload: Vec<Glob>,
    /// The same for the mutation.
    pub mutation: Vec<Glob>,
    /// The same for what goes wrong.
    pub fault: Vec<Glob>,
    /// The same for the flush policy.
    pub policy: Vec<Glob>,
}

impl Axes {
    /// Whether every axis matches.
    pub fn matches(&self, place: Place<'_>) -> bool {
        any(&self.server, place.server.iter().map(String::as_str))
            && any(&self.client, place.client.iter().map(String::as_str))
            && self.reaches(place.workload, place.mutation)
            && any(&self.fault, std::iter::once(place.fault))
            && any(&self.policy, std::iter::once(place.policy))
    }
}

impl Axes {
    /// Whether some party can be matched under this workload and this mutation.
    pub(super) fn reaches(&self, workload: &str, mutation: &str) -> bool {
        any(&self.workload, std::iter::once(workload)) && any(&self.mutation, std::iter::once(mutation))
    }
}

fn any<'a>(globs: &[Glob], mut names: impl Iterator<Item = &'a str>) -> bool {
    globs.is_empty() || names.any(|name| globs.iter().any(|g| g.matches(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(patterns: &[&str]) -> Vec<Glob> {
        patterns.iter().map(|p| Glob::new(p).unwrap()).collect()
    }

    fn matches(axes: &Axes) -> bool {
        let server = ["1.50.3".to_owned(), "1.58.2".to_owned()];
        let client = ["python@same".to_owned(), "python-1.50.3".to_owned(), "python-1.55.1".to_owned()];
        axes.matches(Place {
            server: &server,
            client: &client,
            workload: "chat",
            mutation: "-id",
            fault: "none",
            policy: "",
        })
    }

    #[test]
    fn any_name_of_the_party_will_do() {
        for name in ["python@same", "python-1.50.3", "python-1.55.1", "python-*"] {
            assert!(matches(&Axes { client: globs(&[name]), ..Axes::default() }), "{name}");
        }
        assert!(matches(&Axes { server: globs(&["9.9.9", "1.58.2"]), ..Axes::default() }));
    }

    #[test]
    fn every_axis_has_to_match() {
        assert!(matches(&Axes::default()));
        let right = Axes { server: globs(&["1.50.3"]), mutation: globs(&["-id"]), ..Axes::default() };
        assert!(matches(&right));
        assert!(!matches(&Axes { workload: globs(&["other"]), ..right }));
        assert!(!matches(&Axes { mutation: globs(&["none"]), ..Axes::default() }));
    }
}
