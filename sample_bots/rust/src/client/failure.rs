//! Why a stream ended.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt;

/// The domain of every reason that comes from a referee.
const DOMAIN: &str = "bigtwo.referee";

/// Why a stream ended.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Failure {
    /// The reason that the referee gave, the name of an `ErrorReason` without its prefix, or else gRPC's code.
    pub(crate) kind: String,
    /// What happened, in words.
    pub(crate) text: String,
    /// Whether the referee gave the reason; else gRPC itself or a proxy ended the stream.
    pub(crate) is_reason: bool,
    /// The referee that has a stream of the bot already; empty for other reasons.
    pub(crate) referee_id: String,
    /// The least wait before the next attempt, where the referee names one.
    pub(crate) delay: Option<Duration>,
}

impl Failure {
    /// The referee ended the stream in good order.
    pub(crate) fn ended() -> Self {
        Self { kind: "Ok".into(), text: "the referee ended the stream".into(), ..Self::default() }
    }

    /// The stream was ended here, or did not come about.
    pub(crate) fn unavailable(text: impl Into<String>) -> Self {
        Self { kind: format!("{:?}", Code::Unavailable), text: text.into(), ..Self::default() }
    }

    /// Nobody was reached; only the innermost error says why.
    pub(crate) fn unreached(error: &dyn Error) -> Self {
        let mut innermost = error;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        Self::unavailable(innermost.to_string())
    }

    /// Whether another attempt would fail in the same way: the referee gave a reason and no delay.
    pub(crate) fn is_final(&self) -> bool {
        self.is_reason && self.delay.is_none()
    }

    /// Whether gRPC has reached nobody.
    pub(crate) fn is_unreached(&self) -> bool {
        !self.is_reason && self.kind == format!("{:?}", Code::Unavailable)
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        if let Some(error) = status.source() {
            return Self::unreached(error); // it comes from no referee: the connection failed
        }
        let details = status.get_error_details();
        let info = details.error_info().filter(|info| info.domain == DOMAIN);
        Self {
            kind: info.map_or_else(|| format!("{:?}", status.code()), |info| info.reason.clone()),
            text: status.message().to_owned(),
            is_reason: info.is_some(),
            referee_id: info.and_then(|info| info.metadata.get("referee_id")).cloned().unwrap_or_default(),
            delay: details.retry_info().map(|info| info.retry_delay.unwrap_or_default()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "{}: {}", self.kind, self.text)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::time::Duration;

    use tonic::{Code, Status};
    use tonic_types::{ErrorDetails, StatusExt};

    use super::{DOMAIN, Failure};

    fn failure(domain: &str, delay: Option<Duration>) -> Failure {
        let metadata = HashMap::from([("referee_id".to_owned(), "r1".to_owned())]);
        let mut details = ErrorDetails::with_error_info("NEW_REASON", domain, metadata);
        if delay.is_some() {
            details.set_retry_info(delay);
        }
        Status::with_error_details(Code::Aborted, "in words", details).into()
    }

    #[test]
    fn a_reason_without_a_delay_is_final() {
        let known = failure(DOMAIN, None);
        assert!(known.is_final());
        assert_eq!((known.to_string(), known.referee_id), ("NEW_REASON: in words".into(), "r1".into()));
        let again = failure(DOMAIN, Some(Duration::from_secs(2)));
        assert_eq!((again.is_final(), again.delay), (false, Some(Duration::from_secs(2))));
    }

    #[test]
    fn what_gives_no_reason_of_a_referee_may_be_tried_again() {
        let proxy = failure("proxy", None);
        assert_eq!((proxy.is_final(), proxy.kind.as_str(), proxy.is_unreached()), (false, "Aborted", false));
        assert!(Failure::from(Status::unavailable("gone")).is_unreached());
        assert!(!Failure::ended().is_unreached());
    }
}
