//! One stream to one referee: pings, batches, goodbye, and why it ended.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Endpoint;
use tonic::{Request, Streaming};

use super::bot::{Answer, Bot, Table};
use super::client::Stage;
use super::failure::Failure;
use super::log::Log;
use super::options::Options;
use super::queue::Batches;
use crate::pb::bot_service_client::BotServiceClient;
use crate::pb::{
    Capabilities, Capacity, Card, Closing, Goodbye, Hello, Move, Ping, PlayRequest, PlayResponse, Pong,
    Wants, Welcome,
};

const PROTOCOL_VERSION: u32 = 1;
const SDK: &str = concat!("bigtwo-arena rust ", env!("CARGO_PKG_VERSION"));

/// How long answers are kept back while others are thought about.
const FLUSH_AFTER: Duration = Duration::from_millis(5);
/// How long the referee is waited for.
const WELCOME_WITHIN: Duration = Duration::from_secs(20);
/// How long a bot that finishes is without a session before it says goodbye: one may be on its way.
const SETTLE_FOR: Duration = Duration::from_millis(500);
/// How long the end of the stream is waited for after a goodbye.
const FAREWELL_WITHIN: Duration = Duration::from_secs(3);
/// Holds any move, whatever the welcome says.
const SMALLEST_LIMIT: usize = 4096;
/// What a stream is ended with here.
const LEFT: &str = "the bot has left";

/// One connection to one referee.
pub(crate) struct Stream {
    log: Log,
    requests: UnboundedSender<PlayRequest>,
    limit: Arc<AtomicUsize>,
    table: Table,
    answers: UnboundedReceiver<Answer>,
    asked: UnboundedReceiver<u32>,
    stage: watch::Receiver<Stage>,
    /// Moves that wait for others, and until when.
    moves: Vec<Move>,
    flush_at: Option<Instant>,
    /// How many turns will still be answered.
    turns: usize,
    /// When a bot that finishes has been without a session for long enough.
    settled_at: Option<Instant>,
    /// When the end of the stream is not waited for any longer.
    ends_at: Option<Instant>,
    is_finishing: bool,
    /// The last one that came.
    pub(crate) closing: Option<Closing>,
    /// Whether sessions are open, here or, before the welcome, on the stream before this one.
    pub(crate) owes: bool,
}

/// A stream that is not open yet, with what it is to be told.
pub(crate) struct Dialled {
    stream: Stream,
    waiting: UnboundedReceiver<PlayRequest>,
    asking: UnboundedSender<u32>,
}

impl Dialled {
    /// `owes` tells whether sessions were open on the stream before this one.
    pub(crate) fn new(bot: Bot, stage: watch::Receiver<Stage>, owes: bool) -> Self {
        let (requests, waiting) = unbounded_channel();
        let (answering, answers) = unbounded_channel();
        let (asking, asked) = unbounded_channel();
        let stream = Stream {
            log: bot.log.clone(),
            requests,
            limit: Arc::new(AtomicUsize::new(SMALLEST_LIMIT)),
            table: Table::new(bot, answering),
            answers,
            asked,
            stage,
            moves: Vec::new(),
            flush_at: None,
            turns: 0,
            settled_at: None,
            ends_at: None,
            is_finishing: false,
            closing: None,
            owes,
        };
        Self { stream, waiting, asking }
    }

    /// Plays until the stream ends, and tells why it did. `welcomed` is called with the welcome, and with what asks
    /// the referee for another number of sessions.
    pub(crate) async fn play(
        self,
        address: &str,
        options: &Options,
        welcomed: impl FnOnce(Welcome, UnboundedSender<u32>),
    ) -> (Stream, Failure) {
        let Self { mut stream, waiting, asking } = self;
        // Until the welcome there is nobody to say goodbye to.
        let until = if stream.owes { Stage::Leaving } else { Stage::Finishing };
        let mut stage = stream.stage.clone();
        let opened = tokio::select! {
            biased;
            _ = stage.wait_for(|now| *now >= until) => Err(Failure::unavailable(LEFT)),
            opened = timeout(WELCOME_WITHIN, stream.open(address, options, waiting)) =>
                opened.unwrap_or_else(|_| Err(Failure::unavailable("no welcome came"))),
        };
        let failure = match opened {
            Err(failure) => failure,
            Ok((welcome, responses)) => {
                welcomed(welcome, asking);
                stream.run(responses).await
            }
        };
        (stream, failure)
    }
}

impl Stream {
    /// The least wait after the end of the stream, where the referee announced that it is closing.
    pub(crate) fn retry_delay(&self) -> Duration {
        let delay = self.closing.as_ref().and_then(|closing| closing.retry_delay);
        delay.and_then(|delay| delay.try_into().ok()).unwrap_or_default()
    }

    async fn open(
        &mut self,
        address: &str,
        options: &Options,
        waiting: UnboundedReceiver<PlayRequest>,
    ) -> Result<(Welcome, Streaming<PlayResponse>), Failure> {
        let channel = endpoint(address, options)
            .map_err(|error| Failure::unreached(&error))?
            .connect()
            .await
            .map_err(|error| Failure::unreached(&error))?;
        let mut client = BotServiceClient::new(channel).max_decoding_message_size(usize::MAX);
        let token: MetadataValue<Ascii> = format!("Bearer {}", options.token)
            .parse()
            .map_err(|_| Failure::unavailable("the token has letters that no token can have"))?;
        self.say(PlayRequest { hello: Some(hello(options)), ..PlayRequest::default() }); // before the call
        let mut request = Request::new(Batches::new(waiting, self.limit.clone()));
        request.metadata_mut().insert("authorization", token);
        let mut responses = client.play(request).await?.into_inner();
        let Some(mut first) = responses.message().await? else { return Err(Failure::ended()) };
        let Some(welcome) = first.welcome.take() else {
            return Err(Failure::unavailable("the first message was no welcome"));
        };
        self.limit.store(SMALLEST_LIMIT.max(welcome.max_message_bytes as usize), Ordering::Relaxed);
        self.owes = false;
        self.receive(first);
        Ok((welcome, responses))
    }

    /// Plays from the welcome to the end.
    async fn run(&mut self, mut responses: Streaming<PlayResponse>) -> Failure {
        self.heed_stage();
        loop {
            tokio::select! {
                response = responses.message() => match response {
                    Ok(Some(response)) => self.receive(response),
                    Ok(None) => return Failure::ended(),
                    Err(status) => return status.into(),
                },
                Some(answer) = self.answers.recv() => self.answered(answer),
                Some(sessions) = self.asked.recv(), if !self.is_finishing => self.ask(sessions),
                Ok(()) = self.stage.changed() => self.heed_stage(),
                () = reached(self.flush_at) => self.flush(),
                () = reached(self.settled_at) => {
                    self.owes = false;
                    self.leave();
                }
                () = reached(self.ends_at) => return Failure::unavailable(LEFT),
            }
        }
    }

    fn say(&self, request: PlayRequest) {
        let _ = self.requests.send(request); // fails when the stream has ended, which the reader sees too
    }

    fn receive(&mut self, response: PlayResponse) {
        if let Some(Ping { id }) = response.ping {
            self.say(PlayRequest { pong: Some(Pong { id }), ..PlayRequest::default() });
        }
        if let Some(closing) = response.closing {
            let end: Duration = closing.end_delay.and_then(|delay| delay.try_into().ok()).unwrap_or_default();
            self.log.info(
                "the referee is closing",
                &[("reason", &closing.reason), ("ends_within", &format!("{end:?}"))],
            );
            self.closing = Some(closing);
        }
        if response.events.is_empty() {
            return;
        }
        for event in response.events.into_iter().filter_map(|event| event.event) {
            self.turns += usize::from(self.table.take(event));
        }
        self.owes = self.table.is_busy();
        self.settle();
    }

    /// Answers a batch of turns with one of moves, or sooner when it takes long.
    fn answered(&mut self, answer: Answer) {
        self.turns -= 1;
        self.moves.extend(self.table.wanted(answer));
        if self.turns == 0 {
            self.flush();
        } else if !self.moves.is_empty() && self.flush_at.is_none() {
            self.flush_at = Some(Instant::now() + FLUSH_AFTER);
        }
    }

    fn flush(&mut self) {
        self.flush_at = None;
        if !self.moves.is_empty() {
            let moves = std::mem::take(&mut self.moves);
            self.say(PlayRequest { moves, ..PlayRequest::default() });
        }
    }

    /// Asks for another number of sessions at once.
    fn ask(&self, max_sessions: u32) {
        self.say(PlayRequest { capacity: Some(Capacity { max_sessions }), ..PlayRequest::default() });
    }

    fn heed_stage(&mut self) {
        let stage = *self.stage.borrow_and_update();
        if stage >= Stage::Leaving {
            self.leave();
        } else if stage >= Stage::Finishing && !self.is_finishing {
            self.is_finishing = true;
            self.ask(0);
            self.settle();
        }
    }

    /// Sees to it that a bot which finishes leaves after a while without a session.
    fn settle(&mut self) {
        let is_idle = self.is_finishing && self.ends_at.is_none() && !self.table.is_busy();
        self.settled_at = is_idle.then(|| Instant::now() + SETTLE_FOR);
    }

    fn leave(&mut self) {
        self.settled_at = None;
        if self.ends_at.is_none() {
            self.ends_at = Some(Instant::now() + FAREWELL_WITHIN);
            self.say(PlayRequest { goodbye: Some(Goodbye {}), ..PlayRequest::default() });
        }
    }
}

async fn reached(when: Option<Instant>) {
    match when {
        Some(when) => sleep_until(when).await,
        None => pending().await,
    }
}

fn endpoint(address: &str, options: &Options) -> Result<Endpoint, tonic::transport::Error> {
    let scheme = if options.tls.is_some() { "https" } else { "http" };
    let endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))?
        .http2_keep_alive_interval(Duration::from_secs(10))
        .keep_alive_timeout(Duration::from_secs(5));
    match &options.tls {
        Some(tls) => endpoint.tls_config(tls.config.clone()),
        None => Ok(endpoint),
    }
}

fn hello(options: &Options) -> Hello {
    Hello {
        protocol_version: PROTOCOL_VERSION,
        sdk: SDK.into(),
        max_sessions: options.max_sessions,
        capabilities: Some(Capabilities { max_card: Card::Rj.into(), ..Capabilities::default() }),
        wants: Some(Wants { legal_plays: true, hands: false }),
    }
}
