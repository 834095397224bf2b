//! Events in, moves out: the bot at its seats.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::cards::Cards;
use super::log::Log;
use super::session::Session;
use super::story::Story;
use crate::pb::event::Event;
use crate::pb::{self, Fault, Move, SessionStarted, TurnKind};

/// A decision that is asked of the bot.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// How the session stands.
    pub session: Arc<Session>,
    /// What is asked for.
    pub kind: TurnKind,
    /// All legal plays: by number of cards and kind, weakest first.
    pub legal: Vec<Cards>,
    /// The play to beat; empty when leading.
    pub to_beat: Cards,
    /// Whether a pass is legal.
    pub can_pass: bool,
    /// The turn as it was sent: clocks, and all that is not needed often.
    pub message: pb::Turn,
}

/// Plays one session.
pub trait Strategy: Send {
    /// Gives one of the turn's legal plays, or no cards for a pass. It is called for the kinds of turns that are
    /// known here, one at a time. It may take its time, or block: it has a thread of its own.
    fn choose(&mut self, turn: &Turn) -> Cards;
}

/// A function that plays every turn by itself is a strategy.
impl<F: FnMut(&Turn) -> Cards + Send> Strategy for F {
    fn choose(&mut self, turn: &Turn) -> Cards {
        self(turn)
    }
}

/// Makes a strategy for a session, also for one that is met again after a lost connection.
pub type NewStrategy = Arc<dyn Fn(&Session) -> Box<dyn Strategy> + Send + Sync>;

/// What all seats of the bot have in common.
#[derive(Clone)]
pub(crate) struct Bot {
    pub(crate) new_strategy: NewStrategy,
    pub(crate) log: Log,
    pub(crate) story: Arc<Story>,
    /// Where a strict bot tells how its strategy failed.
    pub(crate) strict: Option<UnboundedSender<String>>,
}

/// What a seat says to a turn: the move, or nothing where the turn is over without one.
pub(crate) struct Answer {
    /// The number of the seat, 0 for none, and the handle of its session, which may name another one by now.
    from: (u64, u32),
    answer: Option<Move>,
}

/// The open sessions of one stream. Each has a task of its own, so that none waits for another one's thoughts.
pub(crate) struct Table {
    bot: Bot,
    answers: UnboundedSender<Answer>,
    seats: HashMap<u32, (u64, UnboundedSender<Event>)>,
    seated: u64,
}

impl Table {
    /// The answers to turns come on `answers`, one for each.
    pub(crate) fn new(bot: Bot, answers: UnboundedSender<Answer>) -> Self {
        Self { bot, answers, seats: HashMap::new(), seated: 0 }
    }

    /// Whether any session is open.
    pub(crate) fn is_busy(&self) -> bool {
        !self.seats.is_empty()
    }

    /// Takes in an event; true when an answer will come.
    pub(crate) fn take(&mut self, event: Event) -> bool {
        let is_turn = matches!(event, Event::Turn(_));
        let handle = match &event {
            Event::SessionStarted(started) => {
                self.open(started.clone());
                return false;
            }
            Event::Notice(notice) => {
                self.bot.log.info("notice", &[("text", &notice.text)]);
                return false;
            }
            Event::SeatForfeited(_) => return false,
            Event::DealStarted(event) => event.session,
            Event::Turn(event) => event.session,
            Event::DealEnded(event) => event.session,
            Event::SessionEnded(event) => event.session,
            Event::Fault(event) => event.session,
        };
        let is_over = matches!(event, Event::SessionEnded(_));
        match (self.seats.get(&handle), event) {
            (Some((_, events)), event) => drop(events.send(event)), // its task ends only after this
            (None, Event::Turn(turn)) => {
                let sequence = turn.sequence;
                let _ = self
                    .answers
                    .send(Answer { from: (0, handle), answer: unread(turn).said(handle, sequence) });
            }
            (None, _) => {}
        }
        if is_over {
            self.seats.remove(&handle);
        }
        is_turn
    }

    /// The move of an answer, unless there is none, or its session is over.
    pub(crate) fn wanted(&self, Answer { from: (number, handle), answer }: Answer) -> Option<Move> {
        answer.filter(|_| self.seats.get(&handle).map_or(0, |(seated, _)| *seated) == number)
    }

    fn open(&mut self, started: SessionStarted) {
        let (events, coming) = unbounded_channel();
        let (handle, bot, answers) = (started.session, self.bot.clone(), self.answers.clone());
        self.seated += 1;
        self.seats.insert(handle, (self.seated, events));
        tokio::spawn(sit(bot, (self.seated, handle), started, coming, answers));
    }
}

/// The bot in one session, until its events end.
async fn sit(
    bot: Bot,
    from: (u64, u32),
    started: SessionStarted,
    mut events: UnboundedReceiver<Event>,
    answers: UnboundedSender<Answer>,
) {
    let mut seat = match Session::new(started) {
        Ok(session) => {
            bot.story.began(&session);
            Some(Seat { mind: Mind::Unmade, session: Arc::new(session), bot })
        }
        Err(error) => {
            bot.log.error("default actions are taken in a session that cannot be read", &[("error", &error)]);
            None
        }
    };
    while let Some(event) = events.recv().await {
        match (event, &mut seat) {
            (Event::Turn(turn), seat) => {
                let (session, sequence) = (turn.session, turn.sequence);
                let choice = match seat {
                    Some(seat) => seat.choose(turn).await,
                    None => unread(turn),
                };
                let answer = choice.said(session, sequence);
                let _ = answers.send(Answer { from, answer }); // fails when the stream has ended
            }
            (event, Some(seat)) => seat.take(&event),
            (_, None) => {}
        }
    }
}

/// How many characters of a failure the referee keeps; with many more, the message would be too large for it.
const LONGEST_FAILURE: usize = 1000;

/// What comes of a turn.
enum Choice {
    Cards(Cards),
    /// The strategy failed, and how.
    Failed(String),
    /// The time for the turn was up before the strategy had answered.
    TooLate,
}

impl Choice {
    /// The move that says it, if there is anything to say.
    fn said(self, session: u32, sequence: u32) -> Option<Move> {
        let made = Move { session, sequence, ..Move::default() };
        match self {
            Self::Cards(cards) => Some(Move { cards: cards.numbers(), passes: cards.is_empty(), ..made }),
            Self::Failed(failure) => {
                Some(Move { failure: failure.chars().take(LONGEST_FAILURE).collect(), ..made })
            }
            Self::TooLate => None,
        }
    }
}

/// What is chosen in a session that cannot be read.
fn unread(turn: pb::Turn) -> Choice {
    Choice::Cards(default_action(&turn_of(Arc::default(), turn)))
}

type Thought = (Result<Cards, String>, Option<Box<dyn Strategy>>);

/// Where the strategy is.
enum Mind {
    /// It is made before its first turn.
    Unmade,
    Free(Box<dyn Strategy>),
    /// It still thinks about a turn that is over.
    Busy(JoinHandle<Thought>),
    /// It could not be made, and why.
    Failed(String),
}

struct Seat {
    mind: Mind,
    session: Arc<Session>,
    bot: Bot,
}

impl Seat {
    fn take(&mut self, event: &Event) {
        match event {
            Event::DealStarted(started) => Arc::make_mut(&mut self.session).deal_started(started),
            Event::DealEnded(ended) => Arc::make_mut(&mut self.session).deal_ended(ended),
            Event::SessionEnded(ended) => self.bot.story.ended(&self.session, ended),
            Event::Fault(fault) => self.fault(fault),
            Event::SessionStarted(_) | Event::Turn(_) | Event::Notice(_) | Event::SeatForfeited(_) => {}
        }
    }

    fn fault(&self, fault: &Fault) {
        self.bot.log.warn(
            "fault",
            &[
                ("reason", &fault.reason),
                ("faults", &fault.faults),
                ("limit", &fault.fault_limit),
                ("session", &self.session.id()),
                ("deal", &self.session.deal),
                ("hand", &Cards::from_numbers(&fault.hand)),
                ("answered", &Cards::from_numbers(&fault.answered)),
                ("played_instead", &Cards::from_numbers(&fault.default_cards)),
            ],
        );
    }

    async fn choose(&mut self, message: pb::Turn) -> Choice {
        Arc::make_mut(&mut self.session).happened(&message.actions);
        let turn = turn_of(self.session.clone(), message);
        if turn.kind == TurnKind::Unspecified {
            return Choice::Cards(default_action(&turn));
        }
        let (hand, to_beat) = (turn.session.hand, turn.to_beat);
        match self.think(turn).await {
            Ok(Some(cards)) => Choice::Cards(cards),
            Ok(None) => {
                self.failed("it has not answered in time", hand, to_beat);
                Choice::TooLate
            }
            Err(reason) => {
                self.failed(&reason, hand, to_beat);
                if let Some(strict) = &self.bot.strict {
                    let _ = strict.send(reason.clone()); // fails when the bot is ending already
                }
                Choice::Failed(reason.split(TRACE).next().unwrap_or_default().to_owned())
            }
        }
    }

    fn failed(&self, reason: &str, hand: Cards, to_beat: Cards) {
        self.bot.log.error(
            "the strategy failed",
            &[
                ("reason", &reason),
                ("session", &self.session.id()),
                ("deal", &self.session.deal),
                ("hand", &hand),
                ("to_beat", &to_beat),
            ],
        );
    }

    /// Asks the strategy on a thread where it may block. Gives `None` when the time for the turn is up before it
    /// answers, and how it failed when it panics, or still thinks about an earlier turn.
    async fn think(&mut self, turn: Turn) -> Result<Option<Cards>, String> {
        let limit = within(&turn.message);
        if let Mind::Busy(earlier) = &mut self.mind {
            // Its answer to that turn is not needed any more; half of the time is left for this one.
            match timeout(limit / 2, earlier).await {
                Ok(thought) => self.mind = back(thought.ok().and_then(|(_, strategy)| strategy)),
                Err(_) => return Err("it still thinks about an earlier turn".into()),
            }
        }
        let made = match std::mem::replace(&mut self.mind, Mind::Unmade) {
            Mind::Failed(reason) => {
                self.mind = Mind::Failed(reason.clone());
                return Err(reason);
            }
            Mind::Free(strategy) => Some(strategy),
            Mind::Unmade | Mind::Busy(_) => None,
        };
        let new_strategy = self.bot.new_strategy.clone();
        let mut thinking = spawn_blocking(move || {
            let made = made.map_or_else(|| caught(|| new_strategy(&turn.session)), Ok);
            match made {
                Ok(mut strategy) => (caught(|| strategy.choose(&turn)), Some(strategy)),
                Err(reason) => (Err(reason), None),
            }
        });
        let Ok(thought) = timeout(limit, &mut thinking).await else {
            self.mind = Mind::Busy(thinking);
            return Ok(None);
        };
        let (choice, strategy) = thought.map_err(|error| error.to_string())?;
        self.mind = match (strategy, &choice) {
            (None, Err(reason)) => Mind::Failed(reason.clone()),
            (strategy, _) => back(strategy),
        };
        choice.map(Some)
    }
}

fn back(strategy: Option<Box<dyn Strategy>>) -> Mind {
    strategy.map_or(Mind::Unmade, Mind::Free)
}

/// How long a turn may be thought about.
fn within(turn: &pb::Turn) -> Duration {
    match turn.decision_ms {
        0 => Duration::MAX,
        decision => Duration::from_millis(u64::from(decision) + u64::from(turn.credit_ms)),
    }
}

fn turn_of(session: Arc<Session>, message: pb::Turn) -> Turn {
    Turn {
        session,
        kind: message.kind(),
        legal: message.legal_plays.iter().map(|play| Cards::from_numbers(&play.cards)).collect(),
        to_beat: Cards::from_numbers(&message.to_beat),
        can_pass: message.can_pass,
        message,
    }
}

/// A pass where it is legal, else the first legal play.
#[must_use]
pub fn default_action(turn: &Turn) -> Cards {
    if turn.can_pass { Cards::default() } else { turn.legal.first().copied().unwrap_or_default() }
}

/// What stands between the reason of a panic and its backtrace, which is for the author's eyes alone.
const TRACE: &str = "\nstack backtrace:\n";

thread_local! {
    /// How the strategy that thinks on this thread panicked; `None` where none thinks.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What `work` gives, or how it panicked and where.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_ours = PANIC.with_borrow_mut(|panic| {
                let Some(panic) = panic else { return false };
                let place = info.location().map(|place| format!(" at {}:{}", place.file(), place.line()));
                let trace = Backtrace::capture(); // only where RUST_BACKTRACE asks for one
                let trace = match trace.status() {
                    BacktraceStatus::Captured => format!("{TRACE}{trace}"),
                    _ => String::new(),
                };
                *panic = format!("panic{}: {}{trace}", place.unwrap_or_default(), payload(info.payload()));
                true
            });
            if !is_ours {
                before(info);
            }
        }));
    });
    PANIC.set(Some(String::new()));
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    let reason = PANIC.take().unwrap_or_default();
    result.map_err(|_| reason)
}

fn payload(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason given".into())
}
