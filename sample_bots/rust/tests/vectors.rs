//! The rules are held to the vectors of `referee/vectors`.

use std::fs;

use bigtwo_bot::client::Cards;
use bigtwo_bot::rules::{Mask, Preset};
use serde_json::{Value, json};

/// The vectors of a file whose ruleset is known here.
fn vectors(name: &str) -> Vec<(Preset, Value)> {
    let file = format!("{}/../../referee/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let mut all: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let listed = all["vectors"].as_array_mut().unwrap();
    let preset = |vector: &Value| Preset::named(vector["input"]["ruleset"].as_str()?);
    listed.drain(..).filter_map(|vector| Some((preset(&vector)?, vector))).collect()
}

/// The cards of a text, or none.
fn mask(text: &Value) -> Mask {
    let cards = Cards::parse(text.as_str().unwrap_or_default()).expect("cards");
    cards.numbers().into_iter().map(|number| 1 << (number - 1)).sum()
}

fn text(mask: Mask) -> String {
    let numbers: Vec<i32> = (0..52).filter(|card| mask >> card & 1 == 1).map(|card| card + 1).collect();
    Cards::from_numbers(&numbers).to_string()
}

#[test]
fn plays_compare_as_in_the_vectors() {
    let vectors = vectors("compare");
    assert!(vectors.len() > 50, "{}", vectors.len());
    for (preset, vector) in vectors {
        let [a, b] = ["a", "b"].map(|name| preset.play(mask(&vector["input"][name])));
        let found = json!({
            "a": a.map(|play| play.kind.name()),
            "b": b.map(|play| play.kind.name()),
            "beats": a.zip(b).is_some_and(|(a, b)| a.beats(&b)),
        });
        assert_eq!(found, vector["expected"], "{vector}");
    }
}

#[test]
fn legal_plays_are_those_of_the_vectors() {
    let vectors = vectors("legal");
    assert!(vectors.len() > 50, "{}", vectors.len());
    for (preset, vector) in vectors {
        let input = &vector["input"];
        let is_lead = input["last_trick_player_is_self"] == true || input["table"].is_null();
        let table = preset.play(mask(&input["table"])).filter(|_| !is_lead);
        let plays = preset.legal(mask(&input["hand"]), table.as_ref(), mask(&input["must_include"]));
        let mut texts: Vec<(u32, String)> =
            plays.iter().map(|play| (play.cards.count_ones(), text(play.cards))).collect();
        texts.sort();
        let texts: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
        let found = json!({ "pass": !is_lead || texts.is_empty(), "plays": texts });
        assert_eq!(found, vector["expected"], "{vector}");
    }
}
