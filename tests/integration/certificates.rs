//! Every certificate in the binary is about the emulation as it is: asked the same again, it answers the same again.

use skewlab::agent_server::profile::Catalogue;
use skewlab::agent_server::profile::client::ClientChoice;
use skewlab::record::certificate::ISSUED;
use skewlab::record::{Certificate, holds_certificate};
use skewlab::run::calibrate::{Answer, Case, answers, answers_hash, cases_for, cases_hash, disagreements};

fn certificates() -> Vec<Certificate> {
    ISSUED.iter().map(|(_, text)| serde_json::from_str(text).unwrap()).collect()
}

fn asked(choice: &ClientChoice, catalogue: &Catalogue) -> (Vec<Case>, Vec<Answer>) {
    let cases = cases_for(catalogue, choice).unwrap();
    let answers = answers(choice, &cases).unwrap();
    (cases, answers)
}

#[test]
fn no_certificate_of_a_client_is_stale() {
    let catalogue = Catalogue::embedded().unwrap();
    let mut clients = 0;
    for certificate in certificates() {
        let name = &certificate.profile;
        let Ok(choice) = catalogue.client(name) else {
            assert!(catalogue.server(name).is_ok(), "`{name}` holds a certificate and is no profile");
            continue;
        };
        let anew = format!("`skewlab calibrate --clients {name} --out reports/certificates` issues it anew");
        let (cases, answers) = asked(&choice, &catalogue);
        assert_eq!(certificate.cases_hash, cases_hash(&cases), "{name}: other cases are asked now; {anew}");
        let (then, now) = (&certificate.answers_hash, answers_hash(&answers));
        assert_eq!(*then, now, "{name}: the emulation answers otherwise than it did; {anew}");
        assert!(certificate.proves(), "{name}: something differs and nobody says why; {anew}");
        clients += 1;
    }
    assert!(clients >= 15, "nine Python profiles, TypeScript and five canvases hold one, not {clients}");
}

#[test]
fn every_client_that_has_a_package_holds_one() {
    let catalogue = Catalogue::embedded().unwrap();
    let eras = catalogue.clients().abouts().map(|about| about.name.as_str());
    // Nobody published a front end on the session socket; without its shim the TypeScript client cannot be asked.
    let unasked = ["browser-session", "typescript-1.39.0+no-shim"];
    let mut eras = eras.filter(|name| !unasked.contains(name));
    assert!(eras.all(holds_certificate));
    for nobody in ["browser-session", "1.58.2+step7", "python-1.58.3"] {
        assert!(!holds_certificate(nobody), "{nobody}");
    }
}

/// One trait of a client, turned.
type Flip = fn(&mut ClientChoice);

#[test]
fn an_emulation_with_one_trait_turned_disagrees_and_loses_its_certificate() {
    use skewlab::record::Signal;
    let catalogue = Catalogue::embedded().unwrap();
    let flips: [(&str, &str, Flip); 6] = [
        ("python-1.58.2", "outcome", |c| c.profile.traits.decode.delta_is_event = false),
        ("python-1.58.2", "outcome", |c| c.profile.release = Some("1.30.0".parse().unwrap())),
        ("python-1.58.2", "text", |c| c.profile.traits.mutant.drop_every = 1),
        ("python-1.55.1", "signal", |c| c.profile.traits.failure.decode.signal = Signal::None),
        ("typescript-1.39.0", "outcome", |c| c.profile.traits.application.reads_kind = false),
        ("typescript-1.39.0", "signal", |c| c.profile.traits.failure.json.signal = Signal::None),
    ];
    for (name, what, flip) in flips {
        let (cases, right) = asked(&catalogue.client(name).unwrap(), &catalogue);
        let mut choice = catalogue.client(name).unwrap();
        flip(&mut choice);
        let wrong = answers(&choice, &cases).unwrap();
        assert_ne!(answers_hash(&right), answers_hash(&wrong), "{name} {what}");
        let found = disagreements(&cases, &wrong, &right);
        assert!(found.iter().any(|d| d.what == what && d.because.is_none()), "{name} {what}: {found:?}");
        assert!(disagreements(&cases, &right, &right).is_empty());
    }
}
