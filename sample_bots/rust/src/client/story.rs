//! What the log tells of sessions, results and ratings.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::log::Log;
use super::session::Session;
use crate::pb::SessionEnded;

/// How many lines about sessions are written in a period; more are only counted.
const MOST_LINES: u32 = 20;
const PERIOD: Duration = Duration::from_secs(10);

/// Tells of the bot's sessions on all streams: against whom they begin, how they end, what the bot is rated.
pub(crate) struct Story {
    log: Log,
    so_far: Mutex<SoFar>,
}

#[derive(Default)]
struct SoFar {
    /// When the period began.
    since: Option<Instant>,
    lines: u32,
    untold: Untold,
    /// By pool, the latest rating and the number of matches behind it.
    rated: HashMap<String, (i32, u32)>,
}

/// What happened in a period without a line of its own.
#[derive(Default, PartialEq)]
struct Untold {
    begun: u32,
    ended: u32,
    points: i64,
}

impl Story {
    pub(crate) fn new(log: Log) -> Self {
        Self { log, so_far: Mutex::default() }
    }

    /// Tells that a session began, or that the bot came back to it; and first of a rating that is news.
    pub(crate) fn began(&self, session: &Session) {
        self.began_at(Instant::now(), session);
    }

    /// Tells how a session ended.
    pub(crate) fn ended(&self, session: &Session, ended: &SessionEnded) {
        self.ended_at(Instant::now(), session, ended);
    }

    /// Tells what was only counted.
    pub(crate) fn end(&self) {
        self.sum_up(&mut self.so_far());
    }

    fn so_far(&self) -> MutexGuard<'_, SoFar> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn began_at(&self, now: Instant, session: &Session) {
        let mut so_far = self.so_far();
        self.news(&mut so_far, session);
        if !self.may(&mut so_far, now) {
            so_far.untold.begun += 1;
            return;
        }
        let started = &session.started;
        self.log.info(
            if started.resumed { "session goes on" } else { "session begins" },
            &[
                ("session", &session.id()),
                ("tournament", &started.tournament),
                ("seat", &session.seat),
                ("against", &others(session).join(", ")),
                ("ruleset", &session.ruleset.name),
            ],
        );
    }

    fn ended_at(&self, now: Instant, session: &Session, ended: &SessionEnded) {
        let mut so_far = self.so_far();
        let points = ended.scores.get(session.seat);
        if !self.may(&mut so_far, now) {
            so_far.untold.ended += 1;
            so_far.untold.points += points.map_or(0, |&points| i64::from(points));
            return;
        }
        let Some(points) = points else {
            self.log.info("session is void, it may be continued later", &[("session", &session.id())]);
            return;
        };
        let place = 1 + ended.scores.iter().filter(|score| *score > points).count();
        self.log.info(
            "session has ended",
            &[("session", &session.id()), ("points", points), ("place", &place), ("of", &ended.scores.len())],
        );
    }

    /// Tells of the bot's rating where there is one, the first time and whenever a match was added to it.
    fn news(&self, so_far: &mut SoFar, session: &Session) {
        let Some(ratings) = &session.started.ratings else { return };
        let (Some(&value), Some(&matches)) =
            (ratings.values.get(session.seat), ratings.matches.get(session.seat))
        else {
            return;
        };
        let before = so_far.rated.get(&ratings.pool).copied();
        if before.is_some_and(|(_, known)| matches <= known) {
            return; // also of a match that was handed out earlier
        }
        so_far.rated.insert(ratings.pool.clone(), (value, matches));
        match before {
            _ if matches == 0 => {
                self.log.info("not rated yet", &[("begins_with", &value), ("pool", &ratings.pool)]);
            }
            None => self.log.info("rated", &[("rating", &value), ("pool", &ratings.pool)]),
            Some((old, _)) => {
                let parts: super::log::Parts<'_> =
                    &[("rating", &value), ("pool", &ratings.pool), ("change", &(value - old))];
                self.log.info("rated", parts);
            }
        }
    }

    /// Tells whether a line may be written; at the end of a period it tells in one line what was only counted.
    fn may(&self, so_far: &mut SoFar, now: Instant) -> bool {
        if so_far.since.is_none_or(|since| now.duration_since(since) >= PERIOD) {
            (so_far.since, so_far.lines) = (Some(now), 0);
            self.sum_up(so_far);
        }
        so_far.lines += 1;
        so_far.lines <= MOST_LINES
    }

    fn sum_up(&self, so_far: &mut SoFar) {
        let untold = std::mem::take(&mut so_far.untold);
        if untold != Untold::default() {
            self.log.info(
                "not shown one by one",
                &[("begun", &untold.begun), ("ended", &untold.ended), ("points", &untold.points)],
            );
        }
    }
}

/// Names the other bots, with their ratings where there are any.
fn others(session: &Session) -> Vec<String> {
    let ratings = session.started.ratings.as_ref();
    let name = |(seat, name): (usize, &String)| {
        let rating =
            ratings.and_then(|ratings| Some((ratings.values.get(seat)?, ratings.matches.get(seat)?)));
        match rating {
            None => name.clone(),
            Some((_, 0)) => format!("{name} (not rated yet)"),
            Some((value, _)) => format!("{name} ({value})"),
        }
    };
    session.started.seats.iter().enumerate().filter(|(seat, _)| *seat != session.seat).map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Instant;

    use super::{MOST_LINES, PERIOD, Story};
    use crate::client::{Log, Session};
    use crate::pb::{Ratings, SessionEnded, SessionStarted};

    /// A story, and the lines that it wrote so far, without their time.
    fn told() -> (Story, Arc<Mutex<Vec<String>>>) {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = lines.clone();
        let log =
            Log::new(move |line| sink.lock().unwrap().push(line[line.find("msg=").unwrap()..].to_owned()));
        (Story::new(log), lines)
    }

    fn rated_session(value: i32, matches: u32) -> Session {
        Session::new(SessionStarted {
            session_id: "cup/1/2/3".into(),
            tournament: "cup".into(),
            ruleset: r#"{"name": "house", "ranks": ["3"], "suits": ["D"]}"#.into(),
            seats: vec!["ann/a@1".into(), "me/b@1".into()],
            seat: Some(1),
            ratings: Some(Ratings {
                pool: "house@1, tables of 2".into(),
                values: vec![1490, value],
                matches: vec![7, matches],
            }),
            ..SessionStarted::default()
        })
        .unwrap()
    }

    fn ended(scores: &[i32]) -> SessionEnded {
        SessionEnded { scores: scores.to_vec(), ..SessionEnded::default() }
    }

    #[test]
    fn sessions_and_ratings_are_told() {
        let (story, lines) = told();
        let session = rated_session(1500, 3);
        story.began(&session);
        story.ended(&session, &ended(&[12, -12]));
        story.ended(&session, &ended(&[]));
        assert_eq!(
            *lines.lock().unwrap(),
            [
                r#"msg=rated rating=1500 pool="house@1, tables of 2""#,
                r#"msg="session begins" session=cup/1/2/3 tournament=cup seat=1 against="ann/a@1 (1490)" ruleset=house"#,
                r#"msg="session has ended" session=cup/1/2/3 points=-12 place=2 of=2"#,
                r#"msg="session is void, it may be continued later" session=cup/1/2/3"#,
            ]
        );
    }

    #[test]
    fn a_rating_is_told_when_a_match_was_added() {
        let (story, lines) = told();
        for matches in [0, 3, 3, 4, 3] {
            story.began(&rated_session(1500 + i32::try_from(matches).unwrap(), matches));
        }
        let lines = lines.lock().unwrap();
        let ratings: Vec<_> =
            lines.iter().filter(|line| line.contains("rated") && line.contains("pool")).collect();
        assert_eq!(
            ratings,
            [
                r#"msg="not rated yet" begins_with=1500 pool="house@1, tables of 2""#,
                r#"msg=rated rating=1503 pool="house@1, tables of 2" change=3"#,
                r#"msg=rated rating=1504 pool="house@1, tables of 2" change=1"#,
            ]
        );
    }

    #[test]
    fn many_sessions_are_counted() {
        let (story, lines) = told();
        let (session, now) = (rated_session(1500, 3), Instant::now());
        for _ in 0..MOST_LINES + 5 {
            story.ended_at(now, &session, &ended(&[-2, 2]));
        }
        assert_eq!(lines.lock().unwrap().len(), MOST_LINES as usize);
        for _ in 0..=MOST_LINES {
            story.began_at(now + PERIOD, &session);
        }
        story.end();
        let lines = lines.lock().unwrap();
        assert!(lines.contains(&r#"msg="not shown one by one" begun=0 ended=5 points=10"#.to_owned()));
        assert_eq!(lines.last().unwrap(), r#"msg="not shown one by one" begun=1 ended=0 points=0"#);
    }
}
