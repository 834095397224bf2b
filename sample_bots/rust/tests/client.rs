//! The client, with a referee of its own.

mod fake;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use bigtwo_bot::client::{Error, Options, Session, Stage, Strategy, Turn};
use bigtwo_bot::pb::{Action, ActionKind, Card, Closing, DealEnded, Fault, PlayResponse, event};
use bigtwo_bot::testing::cards;
use fake::*;
use tonic::{Code, Status};

#[tokio::test]
async fn bot_answers_a_batch_of_turns_with_one_of_moves() {
    let mut referee = FakeReferee::new().await;
    let _bot = run_at(&[&referee.address]);
    let mut stream = referee.welcomed("a", &[]).await;
    let opening = (7..10).flat_map(|session| [started(session), dealt(session)]);
    stream.send_events(opening.chain([turn(7, 4), turn(8, 5), turn(9, 6)]).collect());
    let mut answered: Vec<_> = stream.moves(3).await.iter().map(|one| (one.session, one.sequence)).collect();
    answered.sort_unstable();
    assert_eq!(answered, [(7, 4), (8, 5), (9, 6)]);
}

#[tokio::test]
async fn bot_answers_pings_and_other_turns_while_it_thinks() {
    let mut referee = FakeReferee::new().await;
    let (decide, decided) = mpsc::channel::<()>();
    let decided = Arc::new(Mutex::new(decided));
    let choose = move |turn: &Turn| {
        if turn.message.session == 7 {
            decided.lock().unwrap().recv().unwrap();
        }
        first(turn)
    };
    let _bot = run_with(choose, at(&[&referee.address]));
    let mut stream = referee.welcomed("a", &[]).await;
    stream.send_events(vec![started(7), dealt(7), started(8), dealt(8), turn(7, 1), turn(8, 1)]);
    assert_eq!(stream.moves(1).await[0].session, 8);
    for id in 5..8 {
        stream.answers_ping(id).await;
    }
    decide.send(()).unwrap();
    assert_eq!(stream.moves(1).await[0].session, 7);
}

#[tokio::test]
async fn session_is_the_sum_of_its_events() {
    let mut referee = FakeReferee::new().await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    let choose = move |turn: &Turn| {
        notes.lock().unwrap().push(turn.session.clone());
        first(turn)
    };
    let _bot = run_with(choose, at(&[&referee.address]));
    let mut stream = referee.welcomed("a", &[]).await;
    let action = |seat, kind: ActionKind, cards: &[Card]| Action {
        seat,
        kind: kind.into(),
        cards: cards.iter().map(|&card| card.into()).collect(),
        ..Action::default()
    };
    let exchange = |seat, partner, cards: &[Card]| Action {
        partner: Some(partner),
        ..action(seat, ActionKind::Exchange, cards)
    };
    let mut asked = asked(7, 1);
    asked.actions = vec![
        exchange(2, 1, &[Card::Card2s]),
        exchange(1, 2, &[Card::Card3d]),
        exchange(0, 2, &[]),
        action(0, ActionKind::Play, &[Card::Card4d]),
        Action { drawn: 1, drawn_cards: vec![Card::Card5d.into()], ..action(1, ActionKind::Pass, &[]) },
        action(2, ActionKind::Bomb, &[Card::Card5h, Card::Card5s]),
        Action { kind: 99, ..action(8, ActionKind::Play, &[Card::Card6d]) },
    ];
    let ended = DealEnded {
        session: 7,
        scores: vec![0, -3, 2],
        actions: vec![action(1, ActionKind::Play, &[Card::Card4c])],
        ..DealEnded::default()
    };
    let deal_ended = event::Event::DealEnded(ended);
    stream.send_events(vec![started(7), dealt(7), event::Event::Turn(asked), deal_ended, turn(7, 2)]);
    stream.send_events(vec![dealt(7), turn(7, 3)]);
    stream.moves(3).await;
    let seen = seen.lock().unwrap();
    let [now, after, next] = seen.as_slice() else { panic!("{seen:?}") };
    assert_eq!((now.hand, now.gone), (cards("4C 2S 5D"), cards("4D 5H 5S 6D")));
    assert_eq!((now.counts.as_slice(), now.deal, now.next(0), now.actions.len()), (&[1, 3, 4][..], 3, 2, 7));
    assert_eq!((after.hand, after.scores.as_slice()), (cards("2S 5D"), &[0, -3, 2][..]));
    assert_eq!((next.hand, next.gone, next.actions.len()), (cards("3D 4C"), cards(""), 0));
    assert_eq!(next.counts, [3, 2, 5]);
}

#[tokio::test]
async fn turn_of_unknown_kind_or_of_a_session_that_cannot_be_read_is_answered_by_default() {
    let mut referee = FakeReferee::new().await;
    let mut bot = run_with(|_| panic!("asked"), Options { is_strict: true, ..at(&[&referee.address]) });
    let mut stream = referee.welcomed("a", &[]).await;
    for (ruleset, can_pass) in [
        (r#"{"ranks": ["3"], "suits": ["D"]}"#, true),
        (r#"{"ranks": ["3"], "suits": ["D"]}"#, false),
        ("{", false),
        (r#"{"new": 1}"#, false),
        (r#"{"ranks": ["16"], "suits": ["D"]}"#, true),
        (r#"{"ranks": ["3"], "suits": ["X"]}"#, false),
    ] {
        let event::Event::SessionStarted(mut opened) = started(7) else { unreachable!() };
        opened.ruleset = ruleset.into();
        let mut unknown = asked(7, 1);
        (unknown.kind, unknown.can_pass) = (77, can_pass);
        stream.send_events(vec![event::Event::SessionStarted(opened), dealt(7), event::Event::Turn(unknown)]);
        let answer = stream.moves(1).await.remove(0);
        assert_eq!((answer.passes, answer.cards.is_empty()), (can_pass, can_pass), "{ruleset}");
    }
    assert_eq!(bot.logged("cannot be read").len(), 4);
}

#[tokio::test]
async fn strategy_that_panics_fails_that_turn_alone_and_the_referee_is_told() {
    let mut referee = FakeReferee::new().await;
    let choose = |turn: &Turn| match turn.message.sequence {
        1 => panic!("no idea"),
        2 => panic!("{}", "é".repeat(2_000_000)),
        _ => first(turn),
    };
    let mut bot = run_with(choose, at(&[&referee.address]));
    let mut stream = referee.welcomed("a", &[]).await;
    stream.send_events(vec![started(7), dealt(7), turn(7, 1)]);
    let failed = stream.moves(1).await.remove(0);
    assert!(failed.failure.starts_with("panic at tests/client.rs:"), "{failed:?}");
    assert!(failed.failure.ends_with(": no idea"), "{failed:?}");
    assert!(!failed.passes && failed.cards.is_empty());
    bot.logs(&[
        "level=ERROR",
        "the strategy failed",
        "no idea",
        "session=cup/1/7",
        "deal=3",
        "hand=\"3D 4C\"",
    ])
    .await;
    stream.send_events(vec![turn(7, 2)]);
    assert_eq!(stream.moves(1).await[0].failure.chars().count(), 1000);
    stream.send_events(vec![turn(7, 3)]);
    assert_eq!(stream.moves(1).await[0].cards, [1]);
}

#[tokio::test]
async fn strategy_that_cannot_be_made_fails_every_turn_of_its_session_alone() {
    let mut referee = FakeReferee::new().await;
    let new_strategy = |session: &Session| -> Box<dyn Strategy> {
        assert!(session.id() != "cup/1/7", "not ready");
        Box::new(first)
    };
    let _bot = run_new(Arc::new(new_strategy), at(&[&referee.address]));
    let mut stream = referee.welcomed("a", &[]).await;
    stream.send_events(vec![started(7), started(8), dealt(7), dealt(8), turn(7, 1), turn(7, 2), turn(8, 1)]);
    for answer in stream.moves(3).await {
        assert_eq!(answer.failure.contains("not ready"), answer.session == 7, "{answer:?}");
    }
}

#[tokio::test]
async fn strategy_that_does_not_answer_is_left_alone_until_it_does() {
    let mut referee = FakeReferee::new().await;
    let (decide, decided) = mpsc::channel::<()>();
    let decided = Arc::new(Mutex::new(decided));
    let choose = move |turn: &Turn| {
        if turn.message.sequence == 1 {
            let _ = decided.lock().unwrap().recv();
        }
        first(turn)
    };
    let mut bot = run_with(choose, at(&[&referee.address]));
    let mut stream = referee.welcomed("a", &[]).await;
    let mut short = asked(7, 1);
    short.decision_ms = 1;
    stream.send_events(vec![started(7), dealt(7), event::Event::Turn(short)]);
    bot.logs(&["the strategy failed", "it has not answered in time", "session=cup/1/7"]).await;
    let mut next = asked(7, 2);
    next.decision_ms = 2;
    stream.send_events(vec![event::Event::Turn(next)]);
    assert_eq!(stream.moves(1).await[0].failure, "it still thinks about an earlier turn");
    decide.send(()).unwrap();
    stream.send_events(vec![turn(7, 3)]);
    assert_eq!(stream.moves(1).await[0].cards, [1]);
}

#[tokio::test]
async fn strict_bot_ends_when_its_strategy_panics() {
    let mut referee = FakeReferee::new().await;
    let bot = run_with(|_| panic!("no idea"), Options { is_strict: true, ..at(&[&referee.address]) });
    let mut stream = referee.welcomed("a", &[]).await;
    stream.send_events(vec![started(7), dealt(7), turn(7, 1)]);
    while stream.request().await.goodbye.is_none() {}
    drop(stream);
    match bot.end().await {
        Err(Error::Strategy(reason)) => assert!(reason.contains("no idea"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn answer_to_a_session_that_is_over_is_not_sent_to_the_next_one_of_its_handle() {
    let mut referee = FakeReferee::new().await;
    let is_first = Arc::new(AtomicBool::new(true));
    let (decide, decided) = mpsc::channel::<()>();
    let decided = Arc::new(Mutex::new(decided));
    let choose = move |turn: &Turn| {
        if is_first.swap(false, Ordering::SeqCst) {
            decided.lock().unwrap().recv().unwrap();
        }
        first(turn)
    };
    let _bot = run_with(choose, at(&[&referee.address]));
    let mut stream = referee.welcomed("a", &[]).await;
    stream.send_events(vec![started(7), dealt(7), turn(7, 41)]);
    stream.send_events(vec![session_ended(7), started(7), dealt(7)]);
    stream.answers_ping(1).await;
    decide.send(()).unwrap();
    stream.send_events(vec![turn(7, 42)]);
    assert_eq!(stream.moves(1).await[0].sequence, 42);
}

#[tokio::test]
async fn bot_says_where_a_fault_was() {
    let mut referee = FakeReferee::new().await;
    let mut bot = run_at(&[&referee.address]);
    let stream = referee.welcomed("a", &[]).await;
    let hand = vec![Card::Card3d.into()];
    let fault = Fault {
        session: 7,
        reason: "too low".into(),
        faults: 1,
        fault_limit: 3,
        default_cards: hand.clone(),
        hand,
        ..Fault::default()
    };
    stream.send_events(vec![started(7), dealt(7), event::Event::Fault(fault)]);
    bot.logs(&[
        "too low",
        "session=cup/1/7",
        "deal=3",
        "faults=1",
        "limit=3",
        "hand=3D",
        "played_instead=3D",
    ])
    .await;
}

#[tokio::test]
async fn bot_connects_again() {
    let soon = Some(Duration::from_millis(1));
    for end in [
        Some(Status::unavailable("connection reset")),
        None,
        Some(Status::permission_denied("a proxy")),
        Some(connected("a")),
        Some(failing(Code::ResourceExhausted, "FLOOD", soon)),
        Some(failing(Code::InvalidArgument, "NEW_REASON", soon)),
    ] {
        let mut referee = FakeReferee::new().await;
        let _bot = run_at(&[&referee.address]);
        referee.stream().await.end(end);
        referee.welcomed("a", &[]).await.plays().await;
    }
}

#[tokio::test]
async fn bot_waits_before_it_connects_again() {
    let delay = Duration::from_millis(700); // more than the first wait of a bot that is told nothing
    for is_announced in [false, true] {
        let mut referee = FakeReferee::new().await;
        let _bot = run_at(&[&referee.address]);
        let mut stream = referee.welcomed("a", &[]).await;
        let began = Instant::now();
        if is_announced {
            let retry_delay = Some(delay.try_into().unwrap());
            let closing = Closing { reason: "restart".into(), retry_delay, ..Closing::default() };
            stream.send(PlayResponse { closing: Some(closing), ..PlayResponse::default() });
            stream.plays().await; // open sessions go on
            stream.end(Some(Status::unavailable("connection reset")));
        } else {
            stream.end(Some(failing(Code::Unavailable, "CLOSING", Some(delay))));
        }
        referee.stream().await;
        assert!(began.elapsed() >= delay);
    }
}

#[tokio::test]
async fn bot_ends_when_it_is_refused() {
    for (code, reason) in [
        (Code::Unauthenticated, "TOKEN_UNKNOWN"),
        (Code::PermissionDenied, "TOKEN_REVOKED"),
        (Code::FailedPrecondition, "PROTOCOL_VERSION"),
        (Code::ResourceExhausted, "NEW_REASON"),
    ] {
        let (mut referee, mut other) = (FakeReferee::new().await, FakeReferee::new().await);
        let bot = run_at(&[&referee.address, &other.address]);
        let mut stream = other.welcomed("b", &[]).await;
        stream.answers_ping(1).await;
        referee.stream().await.end(Some(failing(code, reason, None)));
        stream.says_goodbye().await;
        let refused =
            Error::Refused { referee: referee.address, reason: reason.into(), text: "in words".into() };
        assert_eq!(bot.end().await, Err(refused));
    }
}

#[tokio::test]
async fn bot_that_finishes_comes_back_to_its_sessions_and_plays_them_to_their_end() {
    let mut referee = FakeReferee::new().await;
    let bot = run_at(&[&referee.address]);
    let mut stream = referee.welcomed("a", &[]).await;
    stream.plays().await;
    bot.stage.send_replace(Stage::Finishing);
    stream.asks(0).await;
    stream.plays().await;
    stream.end(Some(Status::unavailable("connection reset")));
    let mut stream = referee.welcomed("a", &[]).await;
    stream.asks(0).await;
    stream.plays().await;
    stream.send_events(vec![session_ended(7)]);
    stream.says_goodbye().await;
    bot.end().await.unwrap();
}

#[tokio::test]
async fn bot_that_finishes_without_a_session_leaves() {
    let mut referee = FakeReferee::new().await;
    let bot = run_at(&[&referee.address]);
    let mut stream = referee.welcomed("a", &[]).await;
    stream.answers_ping(1).await;
    bot.stage.send_replace(Stage::Finishing);
    stream.asks(0).await;
    stream.says_goodbye().await;
    bot.end().await.unwrap();
}

#[tokio::test]
async fn bot_that_leaves_says_goodbye_at_once() {
    let mut referee = FakeReferee::new().await;
    let bot = run_at(&[&referee.address]);
    let mut stream = referee.welcomed("a", &[]).await;
    stream.plays().await;
    bot.leaves(vec![stream]).await;
}

#[tokio::test]
async fn bot_that_finishes_while_no_referee_is_there_ends() {
    let mut bot = run_at(&[&nowhere().await]);
    bot.logs(&["trying again", "nothing listens there"]).await;
    bot.stage.send_replace(Stage::Finishing);
    bot.end().await.unwrap();
}

#[tokio::test]
async fn bot_has_one_stream_to_every_referee_of_the_welcome() {
    for spelling in [str::to_owned, local] {
        let (mut referee, mut other) = (FakeReferee::new().await, FakeReferee::new().await);
        let arena = [referee.as_listed("a"), other.as_listed("b")];
        let bot = run_at(&[&spelling(&referee.address)]);
        let mut stream = referee.welcomed("a", &arena).await;
        let mut second = other.welcomed("b", &arena).await;
        second.plays().await;
        stream.plays().await;
        bot.leaves(vec![stream, second]).await;
        assert!(!referee.has_more_streams() && !other.has_more_streams());
    }
}

#[tokio::test]
async fn bot_gives_up_a_second_address_of_a_referee() {
    let mut referee = FakeReferee::new().await;
    let mut bot = run_at(&[&referee.address, &local(&referee.address)]);
    let mut stream = referee.welcomed("a", &[listed("a", "arena.example.org:8710")]).await;
    stream.plays().await; // now it has read the welcome
    referee.stream().await.end(Some(connected("a")));
    bot.logs(&["not needed"]).await;
    stream.plays().await;
    bot.leaves(vec![stream]).await;
}

#[tokio::test]
async fn bot_goes_to_the_listed_address_when_its_own_leads_to_another_referee() {
    let (mut balancer, mut referee, mut other) =
        (FakeReferee::new().await, FakeReferee::new().await, FakeReferee::new().await);
    let arena = [referee.as_listed("a"), other.as_listed("b")];
    let mut bot = run_at(&[&balancer.address]);
    let stream = balancer.welcomed("a", &arena).await;
    let mut second = other.welcomed("b", &arena).await;
    second.plays().await;
    stream.end(Some(Status::unavailable("restarting")));
    balancer.stream().await.end(Some(connected("b")));
    bot.logs(&["not needed", &balancer.address, &other.address]).await;
    let mut first = referee.welcomed("a", &arena).await;
    first.plays().await;
    bot.leaves(vec![first, second]).await;
}

#[tokio::test]
async fn bot_that_reaches_one_of_two_referees_asks_it_for_all_its_sessions_until_the_other_is_back() {
    let (mut referee, mut other) = (FakeReferee::new().await, FakeReferee::new().await);
    let arena = [referee.as_listed("a"), other.as_listed("b")];
    let bot = run_with(first, Options { max_sessions: Some(3), ..at(&[&referee.address]) });
    let mut stream = referee.stream().await;
    assert_eq!(stream.hello.max_sessions, Some(3));
    stream.welcome("a", 2, &arena);
    other.stream().await.end(Some(Status::unavailable("restarting")));
    stream.asks(3).await;
    let second = other.welcomed("b", &arena).await;
    stream.asks(2).await;
    bot.leaves(vec![stream, second]).await;
}

#[tokio::test]
async fn unknown_event_is_ignored() {
    let mut referee = FakeReferee::new().await;
    let _bot = run_at(&[&referee.address]);
    let mut stream = referee.welcomed("a", &[]).await;
    stream.send(PlayResponse { events: vec![bigtwo_bot::pb::Event::default()], ..PlayResponse::default() });
    stream.answers_ping(3).await;
}
