//! Plays Big Two in an arena; see README.md.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bigtwo_bot::client::{Log, Options, Stage, run};
use bigtwo_bot::strategy::new_strategy;
use tokio::runtime::Runtime;
use tokio::sync::watch;

fn main() -> ExitCode {
    let runtime = Runtime::new().expect("the system has threads");
    let ended = runtime.block_on(play());
    runtime.shutdown_timeout(Duration::ZERO); // a strategy may think for ever
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn play() -> Result<(), String> {
    let options = Options::from_environment()?;
    let (stage, told) = watch::channel(Stage::Playing);
    tokio::spawn(on_signals(stage));
    run(options, Arc::new(new_strategy), told, Log::to_stderr()).await.map_err(|error| error.to_string())
}

/// Finishes at the first signal, leaves at the second, and ends the program at the third.
async fn on_signals(stage: watch::Sender<Stage>) {
    let mut signals = Signals::new();
    signals.next().await;
    stage.send_replace(Stage::Finishing);
    signals.next().await;
    stage.send_replace(Stage::Leaving);
    signals.next().await;
    std::process::exit(1);
}

/// Ctrl-C and, where there is one, SIGTERM.
#[cfg(unix)]
struct Signals(tokio::signal::unix::Signal, tokio::signal::unix::Signal);

#[cfg(unix)]
impl Signals {
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let take = |kind| signal(kind).expect("the system has signals");
        Self(take(SignalKind::interrupt()), take(SignalKind::terminate()))
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.0.recv() => {}
            _ = self.1.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Self {
        Self
    }

    async fn next(&mut self) {
        tokio::signal::ctrl_c().await.expect("the system has Ctrl-C");
    }
}
