//! Which referees there are, and which address leads to which.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tokio::sync::mpsc::UnboundedSender;

use super::failure::Failure;
use crate::pb::{Referee, Welcome};

/// What the bot knows of the arena's referees. A referee has a stable id and perhaps several addresses; the bot
/// has one stream to each referee that it can reach.
#[derive(Default)]
pub(crate) struct Referees {
    /// The addresses that the bot is connected to, or tries to be.
    pub(crate) dialled: BTreeSet<String>,
    /// To which referee an address led last, or is listed to lead.
    leads: HashMap<String, String>,
    /// The streams on which the bot was welcomed, by the referee's id.
    live: BTreeMap<String, Home>,
    /// The referees that could not be reached.
    missed: BTreeSet<String>,
    /// The list of the last welcome.
    listed: Vec<Referee>,
}

/// A referee that the bot is connected to.
struct Home {
    address: String,
    /// Asks it for another number of sessions at once.
    asking: UnboundedSender<u32>,
    /// How many sessions the referee gave the bot.
    share: u32,
    /// How many it was asked for last.
    asked: u32,
}

impl Referees {
    /// Takes in a welcome; `asking` asks that referee for another number of sessions.
    pub(crate) fn welcomed(&mut self, address: &str, welcome: Welcome, asking: UnboundedSender<u32>) {
        let (id, share) = (welcome.referee_id, welcome.max_sessions);
        self.live.insert(id.clone(), Home { address: address.into(), asking, share, asked: share });
        self.missed.remove(&id);
        self.leads.insert(address.into(), id);
        self.listed = welcome.referees;
        for listed in &self.listed {
            self.leads.entry(listed.address.clone()).or_insert_with(|| listed.id.clone());
        }
    }

    /// Takes in that a stream has ended. Gives another address at which the bot is connected to the same referee:
    /// where there is one, this address is not needed.
    pub(crate) fn ended(&mut self, address: &str, failure: &Failure) -> Option<String> {
        if !failure.referee_id.is_empty() {
            self.leads.insert(address.into(), failure.referee_id.clone());
        }
        self.live.retain(|_, home| home.address != address);
        let id = self.leads.get(address).cloned().unwrap_or_default();
        if let Some(home) = self.live.get(&id) {
            self.dialled.remove(address);
            return Some(home.address.clone());
        }
        self.missed.insert(id);
        None
    }

    /// The addresses of referees to which the bot has no stream, and tries to open none.
    pub(crate) fn missing(&self) -> Vec<String> {
        let tried: BTreeSet<_> = self.dialled.iter().filter_map(|address| self.leads.get(address)).collect();
        let is_missing = |listed: &&Referee| {
            !self.live.contains_key(&listed.id)
                && !tried.contains(&listed.id)
                && !self.dialled.contains(&listed.address)
        };
        self.listed.iter().filter(is_missing).map(|listed| listed.address.clone()).collect()
    }

    /// Asks the only referee that can be reached for all of `sessions`, and gives back what is too many when
    /// another one can be reached again.
    pub(crate) fn share(&mut self, sessions: Option<u32>) {
        let alone = self.alone();
        for (id, home) in &mut self.live {
            let wanted = if alone.as_ref() == Some(id) { sessions.unwrap_or(home.share) } else { home.share };
            if wanted != home.asked {
                home.asked = wanted;
                let _ = home.asking.send(wanted); // fails where the stream has just ended
            }
        }
    }

    /// The only referee that the bot can reach of several.
    fn alone(&self) -> Option<String> {
        let is_known =
            |listed: &Referee| self.live.contains_key(&listed.id) || self.missed.contains(&listed.id);
        let mut reached = self.listed.iter().filter(|listed| self.live.contains_key(&listed.id));
        let only = reached.next().filter(|_| self.listed.len() > 1 && self.listed.iter().all(is_known))?;
        reached.next().is_none().then(|| only.id.clone())
    }
}
