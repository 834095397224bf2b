//! Which streams there are: one to each referee, opened again when it is lost.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use super::bot::{Bot, NewStrategy};
use super::failure::Failure;
use super::log::Log;
use super::options::Options;
use super::referees::Referees;
use super::story::Story;
use super::stream::Dialled;
use super::unreached::why_unreached;
use crate::pb::Welcome;

/// Waits between attempts to connect: doubling, each drawn at random from half to the whole. They come on top of
/// the delay that a referee asks for.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LAST_WAIT: Duration = Duration::from_secs(5);

/// How far a bot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It plays.
    Playing,
    /// It takes no new session, and ends when its last one has ended.
    Finishing,
    /// It says goodbye at once, and ends.
    Leaving,
}

/// Why a bot ended before it was told to.
#[derive(Debug, PartialEq, Eq)]
pub enum Error {
    /// A referee will not have the bot, and another attempt cannot change that.
    Refused {
        /// The referee's address.
        referee: String,
        /// The name of an `ErrorReason` without its prefix.
        reason: String,
        /// What the referee says.
        text: String,
    },
    /// The strategy of a strict bot failed, and how.
    Strategy(String),
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { referee, reason, text } => {
                write!(to, "referee {referee} refuses the bot: {reason}: {text}")
            }
            Self::Strategy(reason) => write!(to, "the strategy failed: {reason}"),
        }
    }
}

impl std::error::Error for Error {}

/// What a stream tells.
enum News {
    Welcomed {
        address: String,
        welcome: Welcome,
        asking: UnboundedSender<u32>,
    },
    Ended {
        address: String,
        failure: Failure,
        /// Takes the failure, and another address at which the bot is connected to the same referee, if there is one.
        reply: oneshot::Sender<(Failure, Option<String>)>,
    },
    Refused(Error),
}

/// Plays until `told` says otherwise. `new_strategy` is called for every session, also for one that is met again
/// after a lost connection.
///
/// # Errors
///
/// One of the referees will not have the bot, or its strategy has failed and it is strict.
pub async fn run(
    options: Options,
    new_strategy: NewStrategy,
    mut told: watch::Receiver<Stage>,
    log: Log,
) -> Result<(), Error> {
    let story = Arc::new(Story::new(log.clone()));
    let (stage, heeded) = watch::channel(*told.borrow_and_update());
    let (telling, mut news) = unbounded_channel();
    let (failing, mut failures) = unbounded_channel();
    let strict = options.is_strict.then_some(failing);
    let bot = Bot { new_strategy, log, story: story.clone(), strict };
    let sessions = options.max_sessions;
    let connection = Connection { options: Arc::new(options), bot, stage: heeded, news: telling };
    let (mut referees, mut connections, mut end) = (Referees::default(), JoinSet::new(), Ok(()));
    let dial = |referees: &mut Referees, connections: &mut JoinSet<()>, addresses: Vec<String>| {
        for address in addresses {
            if referees.dialled.insert(address.clone()) {
                connections.spawn(connection.clone().keep(address));
            }
        }
    };

    dial(&mut referees, &mut connections, connection.options.referees.clone());
    loop {
        tokio::select! {
            biased; // what is told comes before the end of who told it
            Some(news) = news.recv() => {
                match news {
                    News::Welcomed { address, welcome, asking } => referees.welcomed(&address, welcome, asking),
                    News::Ended { address, failure, reply } => {
                        let other = referees.ended(&address, &failure);
                        let _ = reply.send((failure, other)); // fails when the bot leaves
                    }
                    News::Refused(error) => {
                        end = end.and(Err(error));
                        stage.send_replace(Stage::Leaving);
                    }
                }
                if *stage.borrow() == Stage::Playing {
                    // An address may have led to another referee before.
                    let missing = referees.missing();
                    dial(&mut referees, &mut connections, missing);
                    referees.share(sessions);
                }
            }
            Some(reason) = failures.recv() => {
                end = end.and(Err(Error::Strategy(reason)));
                stage.send_replace(Stage::Leaving);
            }
            Ok(()) = told.changed() => {
                let told = *told.borrow_and_update();
                stage.send_if_modified(|stage| told > *stage && { *stage = told; true });
            }
            ended = connections.join_next() => if ended.is_none() { break },
        }
    }
    story.end();
    end
}

/// A bot's connection to a referee at one address.
#[derive(Clone)]
struct Connection {
    options: Arc<Options>,
    bot: Bot,
    stage: watch::Receiver<Stage>,
    news: UnboundedSender<News>,
}

impl Connection {
    /// Keeps a stream to the referee at an address, until the bot ends or the address is not needed. A bot that
    /// finishes comes back only to sessions that are open.
    async fn keep(mut self, address: String) {
        let (mut wait, mut told, mut until, mut owes) = (FIRST_WAIT, String::new(), Stage::Finishing, false);
        while *self.stage.borrow() < until {
            let mut is_welcome = false;
            let dialled = Dialled::new(self.bot.clone(), self.stage.clone(), owes);
            let welcomed = |welcome: Welcome, asking| {
                is_welcome = true;
                self.bot.log.info(
                    "connected",
                    &[("referee", &address), ("bot", &welcome.bot), ("id", &welcome.referee_id)],
                );
                self.tell(News::Welcomed { address: address.clone(), welcome, asking });
            };
            let (stream, failure) = dialled.play(&address, &self.options, welcomed).await;
            if is_welcome {
                (wait, told) = (FIRST_WAIT, String::new());
            }
            if failure.is_final() {
                let Failure { kind: reason, text, .. } = failure;
                self.tell(News::Refused(Error::Refused { referee: address, reason, text }));
                return;
            }
            owes = stream.owes;
            until = if owes { Stage::Leaving } else { Stage::Finishing };
            if *self.stage.borrow() >= until {
                return;
            }
            let (reply, replied) = oneshot::channel();
            self.tell(News::Ended { address: address.clone(), failure, reply });
            let Ok((failure, other)) = replied.await else { return };
            if let Some(other) = other {
                let text = "not needed, the bot is connected to it at another address";
                self.bot.log.info(text, &[("referee", &address), ("other", &other)]);
                return;
            }
            if failure.kind != told {
                told.clone_from(&failure.kind); // what stays the same is told once
                let reason = self.why(&address, &failure).await;
                let text = "not connected, trying again";
                self.bot.log.warn(text, &[("referee", &address), ("reason", &reason)]);
            }
            let least = failure.delay.unwrap_or_default().max(stream.retry_delay());
            let pause = least + wait.mul_f64(0.5 + random() / 2.0);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = self.stage.wait_for(|stage| *stage >= until) => {}
            }
            wait = (2 * wait).min(LAST_WAIT);
        }
    }

    fn tell(&self, news: News) {
        let _ = self.news.send(news); // fails when the bot has ended
    }

    /// Says why a stream ended, in plain words where gRPC does not know.
    async fn why(&self, address: &str, failure: &Failure) -> String {
        let why = if failure.is_unreached() {
            why_unreached(address, self.options.tls.as_ref()).await
        } else {
            None
        };
        why.unwrap_or_else(|| failure.to_string())
    }
}

/// A number from 0 to 1, without a promise of quality.
#[allow(clippy::cast_precision_loss)]
fn random() -> f64 {
    RandomState::new().hash_one(()) as f64 / u64::MAX as f64
}
