//! A referee that hands every stream to the test, and a bot that plays there.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bigtwo_bot::client::{Cards, Error, Log, NewStrategy, Options, Stage, Strategy, Turn, run};
use bigtwo_bot::pb::bot_service_server::{BotService, BotServiceServer};
use bigtwo_bot::pb::{self, Card, Event, Hello, LegalPlay, PlayRequest, PlayResponse, event};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_stream::Stream;
use tokio_stream::wrappers::{TcpListenerStream, UnboundedReceiverStream};
use tonic::transport::Server;
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_types::{ErrorDetails, StatusExt};

/// When a test gives up on what must come.
const DEADLINE: Duration = Duration::from_secs(20);

/// What must come.
pub async fn coming<T>(receiver: &mut UnboundedReceiver<T>) -> T {
    timeout(DEADLINE, receiver.recv()).await.expect("nothing came").expect("it has ended")
}

pub struct FakeReferee {
    pub address: String,
    streams: UnboundedReceiver<FakeStream>,
}

/// The referee's side of a stream.
pub struct FakeStream {
    pub hello: Hello,
    token: String,
    requests: UnboundedReceiver<PlayRequest>,
    responses: UnboundedSender<Result<PlayResponse, Status>>,
}

struct Service(UnboundedSender<FakeStream>);

#[tonic::async_trait]
impl BotService for Service {
    type PlayStream = Pin<Box<dyn Stream<Item = Result<PlayResponse, Status>> + Send>>;

    async fn play(
        &self,
        call: Request<Streaming<PlayRequest>>,
    ) -> Result<Response<Self::PlayStream>, Status> {
        let token = call.metadata().get("authorization").unwrap().to_str().unwrap().to_owned();
        let (reading, requests) = unbounded_channel();
        let (responses, writing) = unbounded_channel();
        let mut incoming = call.into_inner();
        tokio::spawn(async move {
            while let Ok(Some(request)) = incoming.message().await {
                let _ = reading.send(request);
            }
        });
        let _ = self.0.send(FakeStream { hello: Hello::default(), token, requests, responses });
        Ok(Response::new(Box::pin(UnboundedReceiverStream::new(writing))))
    }
}

impl FakeReferee {
    pub async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (coming, streams) = unbounded_channel();
        let server = Server::builder().add_service(BotServiceServer::new(Service(coming)));
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        Self { address, streams }
    }

    /// The bot's next stream, with its hello.
    pub async fn stream(&mut self) -> FakeStream {
        let mut stream = coming(&mut self.streams).await;
        assert_eq!(stream.token, "Bearer secret");
        stream.hello = stream.request().await.hello.expect("a hello");
        assert_eq!(stream.hello.protocol_version, 1);
        assert!(stream.hello.wants.unwrap().legal_plays);
        stream
    }

    /// The same, welcomed as `id` in an arena of these referees.
    pub async fn welcomed(&mut self, id: &str, referees: &[pb::Referee]) -> FakeStream {
        let stream = self.stream().await;
        stream.welcome(id, stream.hello.max_sessions.unwrap_or_default(), referees);
        stream
    }

    /// A referee as a welcome lists it.
    pub fn as_listed(&self, id: &str) -> pb::Referee {
        listed(id, &self.address)
    }

    pub fn has_more_streams(&mut self) -> bool {
        self.streams.try_recv().is_ok()
    }
}

pub fn listed(id: &str, address: &str) -> pb::Referee {
    pb::Referee { id: id.into(), address: address.into() }
}

impl FakeStream {
    pub async fn request(&mut self) -> PlayRequest {
        coming(&mut self.requests).await
    }

    pub fn send(&self, response: PlayResponse) {
        self.responses.send(Ok(response)).unwrap();
    }

    pub fn send_events(&self, events: Vec<event::Event>) {
        let events = events.into_iter().map(|event| Event { event: Some(event) }).collect();
        self.send(PlayResponse { events, ..PlayResponse::default() });
    }

    pub fn welcome(&self, id: &str, max_sessions: u32, referees: &[pb::Referee]) {
        let welcome = pb::Welcome {
            bot: "owner/bot@1".into(),
            referee_id: id.into(),
            referees: referees.to_vec(),
            max_sessions,
            ..pb::Welcome::default()
        };
        self.send(PlayResponse { welcome: Some(welcome), ..PlayResponse::default() });
    }

    /// Ends the stream; without a status in good order.
    pub fn end(self, status: Option<Status>) {
        if let Some(status) = status {
            self.responses.send(Err(status)).unwrap();
        }
    }

    /// The moves that the bot sends next.
    pub async fn moves(&mut self, count: usize) -> Vec<pb::Move> {
        let mut moves = Vec::new();
        while moves.len() < count {
            let request = self.request().await;
            assert!(!request.moves.is_empty(), "{request:?}");
            moves.extend(request.moves);
        }
        moves
    }

    /// The bot answers a turn on the stream.
    pub async fn plays(&mut self) {
        self.send_events(vec![started(7), dealt(7), turn(7, 1)]);
        assert_eq!(self.moves(1).await.len(), 1);
    }

    /// The bot answers a ping, and so has read what was sent before.
    pub async fn answers_ping(&mut self, id: u32) {
        self.send(PlayResponse { ping: Some(pb::Ping { id }), ..PlayResponse::default() });
        let wanted = PlayRequest { pong: Some(pb::Pong { id }), ..PlayRequest::default() };
        assert_eq!(self.request().await, wanted);
    }

    /// The bot asks for so many sessions.
    pub async fn asks(&mut self, max_sessions: u32) {
        assert_eq!(self.request().await.capacity, Some(pb::Capacity { max_sessions }));
    }

    /// The bot says goodbye, and ends its side of the stream.
    pub async fn says_goodbye(mut self) {
        assert!(self.request().await.goodbye.is_some());
        let more = timeout(DEADLINE, self.requests.recv()).await.expect("the stream goes on");
        assert_eq!(more, None);
    }
}

/// A bot that runs until the test's end, or until it is told to finish or to leave.
pub struct Running {
    pub stage: watch::Sender<Stage>,
    ended: JoinHandle<Result<(), Error>>,
    lines: UnboundedReceiver<String>,
}

/// Runs a bot whose every session is played by `choose`.
pub fn run_with(
    choose: impl Fn(&Turn) -> Cards + Clone + Send + Sync + 'static,
    options: Options,
) -> Running {
    run_new(Arc::new(move |_| Box::new(choose.clone()) as Box<dyn Strategy>), options)
}

pub fn run_new(new_strategy: NewStrategy, options: Options) -> Running {
    let (stage, told) = watch::channel(Stage::Playing);
    let (telling, lines) = unbounded_channel();
    let log = Log::new(move |line| drop(telling.send(line)));
    let options = Options { token: "secret".into(), ..options };
    Running { stage, ended: tokio::spawn(run(options, new_strategy, told, log)), lines }
}

/// Runs a bot that plays the first legal play at these addresses.
pub fn run_at(addresses: &[&str]) -> Running {
    run_with(first, at(addresses))
}

pub fn at(addresses: &[&str]) -> Options {
    Options { referees: addresses.iter().map(|&address| address.into()).collect(), ..Options::default() }
}

pub fn first(turn: &Turn) -> Cards {
    turn.legal[0]
}

impl Running {
    /// Waits for a line of the log that has these parts.
    pub async fn logs(&mut self, parts: &[&str]) {
        while !has_all(&coming(&mut self.lines).await, parts) {}
    }

    /// The lines so far that have this part.
    pub fn logged(&mut self, part: &str) -> Vec<String> {
        std::iter::from_fn(|| self.lines.try_recv().ok()).filter(|line| line.contains(part)).collect()
    }

    pub async fn end(self) -> Result<(), Error> {
        timeout(DEADLINE, self.ended).await.expect("it goes on").unwrap()
    }

    /// Tells the bot to leave at once: it says goodbye on these streams and ends.
    pub async fn leaves(self, streams: Vec<FakeStream>) {
        self.stage.send_replace(Stage::Leaving);
        for stream in streams {
            stream.says_goodbye().await;
        }
        self.end().await.unwrap();
    }
}

fn has_all(line: &str, parts: &[&str]) -> bool {
    parts.iter().all(|part| line.contains(part))
}

/// A status as a referee ends a call with it.
pub fn failing(code: Code, reason: &str, delay: Option<Duration>) -> Status {
    refusing(code, reason, "", delay)
}

/// Why a referee refuses a bot that is connected to it already.
pub fn connected(id: &str) -> Status {
    refusing(Code::Aborted, "ALREADY_CONNECTED", id, Some(Duration::ZERO))
}

fn refusing(code: Code, reason: &str, id: &str, delay: Option<Duration>) -> Status {
    let metadata = [("referee_id".to_owned(), id.to_owned())];
    let mut details = ErrorDetails::with_error_info(reason, "bigtwo.referee", metadata);
    if delay.is_some() {
        details.set_retry_info(delay);
    }
    Status::with_error_details(code, "in words", details)
}

pub fn started(session: u32) -> event::Event {
    event::Event::SessionStarted(pb::SessionStarted {
        session,
        session_id: format!("cup/1/{session}"),
        ruleset: r#"{"ranks": ["3", "4"], "suits": ["D", "C"], "new": 1}"#.into(),
        seats: ["a", "b", "c"].map(String::from).to_vec(),
        seat: Some(1),
        ..pb::SessionStarted::default()
    })
}

pub fn dealt(session: u32) -> event::Event {
    event::Event::DealStarted(pb::DealStarted {
        session,
        deal: 3,
        hand: vec![Card::Card3d.into(), Card::Card4c.into()],
        hand_sizes: vec![3, 2, 5],
        direction: pb::Direction::Anticlockwise.into(),
        ..pb::DealStarted::default()
    })
}

pub fn turn(session: u32, sequence: u32) -> event::Event {
    event::Event::Turn(asked(session, sequence))
}

/// A turn in which the 3D can be played, or nothing.
pub fn asked(session: u32, sequence: u32) -> pb::Turn {
    pb::Turn {
        session,
        sequence,
        kind: pb::TurnKind::Play.into(),
        legal_plays: vec![LegalPlay { cards: vec![Card::Card3d.into()] }],
        can_pass: true,
        ..pb::Turn::default()
    }
}

pub fn session_ended(session: u32) -> event::Event {
    event::Event::SessionEnded(pb::SessionEnded { session, ..pb::SessionEnded::default() })
}

/// An address that nobody listens at.
pub async fn nowhere() -> String {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string()
}

/// Another spelling of an address.
pub fn local(address: &str) -> String {
    address.replace("127.0.0.1", "localhost")
}
