//! The client: it connects to every referee of an arena, keeps the state of every session, answers pings,
//! batches moves, reconnects and leaves politely. What to play is a [`Strategy`]'s matter.

mod bot;
mod cards;
#[allow(clippy::module_inception)]
mod client;
mod failure;
mod log;
mod options;
mod queue;
mod referees;
mod session;
mod story;
mod stream;
mod unreached;

pub use bot::{NewStrategy, Strategy, Turn, default_action};
pub use cards::Cards;
pub use client::{Error, Stage, run};
pub use log::Log;
pub use options::{Options, Tls};
pub use session::{Ruleset, Session};
