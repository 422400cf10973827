//! A chat as evidence: what can be read off bubbles and what cannot.

use serde_json::json;

use super::canvas::{behind, trace};
use super::server::WiredFrame;
use super::{Seen, server::piece};
use crate::record::observation::Piece;
use crate::wire::DELTA_KIND;

fn frames(texts: &[&str]) -> Vec<WiredFrame> {
    let frame = |text: &&str| WiredFrame {
        at: 1.0,
        id: None,
        value: json!({"kind": DELTA_KIND, "source": "agent", "content": text}),
    };
    texts.iter().map(frame).collect()
}

/// The text that counts as delivered when the chat showed one bubble with this in it.
fn delivered(texts: &[&str], bubble: &str) -> Vec<Piece> {
    let seen = [Seen { at: 1.5, bubbles: vec![bubble.to_owned()] }];
    trace(&seen, &[], &[], None, &frames(texts), true).delivered
}

fn pieces(texts: &[&str]) -> Vec<Piece> {
    texts.iter().map(|text| piece(text, false)).collect()
}

#[test]
fn white_space_goes_with_the_text_beside_it() {
    let texts = [" ", "a", "  ", "b"];
    assert_eq!(delivered(&texts, "a b"), pieces(&texts));
    assert_eq!(delivered(&texts, ""), pieces(&[]));
    // What follows a lost piece is lost with it, an empty piece between them or not.
    assert_eq!(delivered(&["a", "b", "", "  ", "c"], "ac"), pieces(&["a", "", "c"]));
}

#[test]
fn what_is_more_than_was_sent_is_not_left_out() {
    assert_eq!(delivered(&["a"], "abc"), pieces(&["a", "bc"]));
    assert_eq!(delivered(&["a", "b"], "ba"), pieces(&["b", "a"]));
}

#[test]
fn a_chat_without_a_bubble_showed_nothing() {
    let trace = trace(&[], &[], &[], None, &frames(&["a"]), false);
    assert_eq!((trace.view.as_deref(), trace.delivered.len()), (Some(""), 0));
}

#[test]
fn a_chat_that_is_still_drawing_when_the_reply_comes_is_no_loss() {
    let mut all = frames(&["ab", "cd", "ef"]);
    let reply = json!({"kind": "MessageEvent", "source": "agent"});
    all.push(WiredFrame { at: 3.0, id: None, value: reply });
    let behind = |states: &[(f64, &str)]| {
        let seen: Vec<Seen> =
            states.iter().map(|(at, text)| Seen { at: *at, bubbles: vec![(*text).to_owned()] }).collect();
        behind(&seen, &all).is_some()
    };
    assert!(behind(&[(1.1, "ab"), (2.9, "abcd"), (3.1, "abcdef")]), "busy until the reply");
    assert!(behind(&[(3.1, "ab"), (3.2, "abcd"), (3.3, "abcdef")]), "drawn in steps after the reply");
    assert!(!behind(&[(1.1, "ab"), (1.2, "abcd"), (3.1, "abcdef")]), "lost, and the reply brings it");
    assert!(!behind(&[(3.1, "abcdef")]), "nothing streamed");
    assert!(!behind(&[(1.1, "ab"), (2.9, "abef"), (3.1, "abcdef")]), "lost in the middle");
    assert!(!behind(&[(1.1, "ab"), (2.9, "abcdef")]), "slow, and there in time");
}
