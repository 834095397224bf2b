//! Requests on their way to the referee, put together while they wait.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use prost::Message;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_stream::Stream;

use crate::pb::PlayRequest;

/// The requests of a stream: as few messages as can be, each up to a limit; it ends after a goodbye.
pub(crate) struct Batches {
    parts: UnboundedReceiver<PlayRequest>,
    limit: Arc<AtomicUsize>,
    ready: VecDeque<PlayRequest>,
    is_over: bool,
}

impl Batches {
    /// `limit` is the size of the largest message in bytes, which may change.
    pub(crate) fn new(parts: UnboundedReceiver<PlayRequest>, limit: Arc<AtomicUsize>) -> Self {
        Self { parts, limit, ready: VecDeque::new(), is_over: false }
    }
}

impl Stream for Batches {
    type Item = PlayRequest;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<PlayRequest>> {
        if self.ready.is_empty() && !self.is_over {
            let mut waiting = Vec::new();
            match self.parts.poll_recv_many(context, &mut waiting, usize::MAX) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(0) => return Poll::Ready(None),
                Poll::Ready(_) => self.ready = batch(waiting, self.limit.load(Ordering::Relaxed)).into(),
            }
        }
        let next = self.ready.pop_front();
        self.is_over |= next.as_ref().is_some_and(|request| request.goodbye.is_some());
        Poll::Ready(next)
    }
}

/// Puts requests together, so that many moves are one message of up to `limit` bytes. A message holds one pong
/// and one capacity; a hello stands alone, and a goodbye as the last.
fn batch(parts: Vec<PlayRequest>, limit: usize) -> Vec<PlayRequest> {
    let mut batches = Vec::new();
    let mut size = limit; // of the last one: nothing fits into it any more
    for part in parts {
        if part.goodbye.is_some() {
            batches.push(part);
            return batches;
        }
        if part.hello.is_some() {
            batches.push(part);
            size = limit;
            continue;
        }
        if let Some(pong) = part.pong {
            if batches.last().is_some_and(|request: &PlayRequest| request.pong.is_some()) {
                size = limit;
            }
            with_room(&mut batches, &mut size, field_size(&pong), limit).pong = Some(pong);
        }
        if let Some(capacity) = part.capacity {
            // The last one counts.
            with_room(&mut batches, &mut size, field_size(&capacity), limit).capacity = Some(capacity);
        }
        for one in part.moves {
            with_room(&mut batches, &mut size, field_size(&one), limit).moves.push(one);
        }
    }
    batches
}

/// The last request if `bytes` more fit into it, else a new one; `size` is that of the last one.
fn with_room<'a>(
    batches: &'a mut Vec<PlayRequest>,
    size: &mut usize,
    bytes: usize,
    limit: usize,
) -> &'a mut PlayRequest {
    if *size + bytes > limit {
        batches.push(PlayRequest::default());
        *size = 0;
    }
    *size += bytes;
    batches.last_mut().expect("one was there, or was just pushed")
}

/// How many bytes a message takes as a field of another: a byte for the tag, the length, itself.
fn field_size(message: &impl Message) -> usize {
    let length = message.encoded_len();
    1 + prost::length_delimiter_len(length) + length
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::batch;
    use crate::pb::{Goodbye, Hello, Move, PlayRequest, Pong};

    fn moves(sequences: &[u32]) -> PlayRequest {
        let one = |&sequence| Move { session: 1, sequence, passes: true, ..Move::default() };
        PlayRequest { moves: sequences.iter().map(one).collect(), ..PlayRequest::default() }
    }

    fn pong(id: u32) -> PlayRequest {
        PlayRequest { pong: Some(Pong { id }), ..PlayRequest::default() }
    }

    #[test]
    fn what_fits_is_put_together() {
        let goodbye = PlayRequest { goodbye: Some(Goodbye {}), ..PlayRequest::default() };
        let hello = PlayRequest { hello: Some(Hello::default()), ..PlayRequest::default() };
        let both = PlayRequest { pong: Some(Pong { id: 9 }), ..moves(&[1, 2, 3]) };
        for (limit, parts, wanted) in [
            (100, vec![moves(&[1]), pong(9), moves(&[2, 3])], vec![both]),
            (100, vec![pong(1), pong(2)], vec![pong(1), pong(2)]),
            (100, vec![pong(0)], vec![pong(0)]),
            (100, vec![hello.clone(), pong(1)], vec![hello, pong(1)]),
            (16, vec![moves(&[1, 2, 3])], vec![moves(&[1, 2]), moves(&[3])]),
            (16, vec![moves(&[1, 2]), pong(3)], vec![moves(&[1, 2]), pong(3)]),
            (100, vec![moves(&[1]), goodbye.clone(), moves(&[2])], vec![moves(&[1]), goodbye]),
        ] {
            let batches = batch(parts, limit);
            assert_eq!(batches, wanted);
            assert!(batches.iter().all(|request| request.encoded_len() <= limit));
        }
    }
}
