//! A bot's side of the protocol, apart from a strategy, apart from rules; see README.md.

pub mod client;
pub mod rules;
pub mod strategy;
pub mod testing;

/// The messages, generated from `proto/` as the program is built.
#[allow(missing_docs, clippy::pedantic)]
pub mod pb {
    tonic::include_proto!("referee.v1");
}
