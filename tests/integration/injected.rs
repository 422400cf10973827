//! Costs that were put into a server on purpose, seen from the outside: `bench fanout --against-server`. Counts are exact,
//! and gate whatever the machine does; `cargo bench --bench against` says what the clocks make of it.

use skewlab::record::comparison::Count;
use skewlab::record::interleaved::Interleaved;

use crate::runs::{Folder, ended, skewlab};

/// A server of 1.44.1, which has no heartbeat whose beats depend on time, with a mutant, against the same without one.
fn against(mutant: &str) -> (i32, Interleaved) {
    let folder = Folder::new();
    folder.profile("servers", "1.44.1+burdened", "1.44.1", mutant);
    let profiles = folder.arg("");
    let args =
        ["bench", "fanout", "--subscribers", "2", "--tokens", "20", "--repeats", "5", "--format", "json"];
    let servers = ["--server", "1.44.1+burdened", "--against-server", "1.44.1", "--profiles", &profiles];
    let (code, said, errors) = ended(skewlab(&args).args(servers));
    (code, serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}{errors}")))
}

#[test]
fn one_encoding_more_a_delta_is_found_to_the_count_and_gates() {
    let (code, found) = against("[mutant]\nencode_again = 1");
    // 13 is the machine's word on its own noise, which takes the count away from nobody.
    assert!([12, 13].contains(&code), "{code}: {found:?}");
    let of = |count: &str| {
        let found = found.counts.iter().find(|c| c.count == count);
        found.unwrap_or_else(|| panic!("{count}"))
    };
    let serialised = of("serialisations");
    let (base, head) = (serialised.base.unwrap(), serialised.head.unwrap());
    assert_eq!((base, head), (Count::Whole(2), Count::Whole(3)), "one a socket, and one for nothing");
    assert!(serialised.gates && serialised.id == "subscribers/2");
    let bytes = of("bytes encoded");
    let number = |count: Option<Count>| match count.unwrap() {
        Count::Whole(n) => f64::from(u32::try_from(n).unwrap()),
        Count::Share(n) => n,
    };
    let (base, head) = (number(bytes.base), number(bytes.head));
    assert!((head / base - 1.5).abs() < 1e-9, "as long as the others: {bytes:?}");
    assert!(
        found.counts.iter().all(|c| !["frames", "wire bytes"].contains(&c.count.as_str())),
        "nothing is sent"
    );
}

#[test]
fn cpu_that_is_burnt_moves_no_count_and_the_same_server_none_either() {
    for mutant in ["[mutant]\nburn = 2000", ""] {
        let (code, found) = against(mutant);
        // What the clocks say of the first is not asked here.
        assert!([0, 12, 13].contains(&code), "{mutant}: {code}");
        assert!(found.counts.is_empty() && found.points.len() == 1, "{mutant}: {:?}", found.counts);
    }
}
