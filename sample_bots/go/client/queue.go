package client

import (
	"context"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

// queue passes items on without ever making the giver wait, so that nothing keeps a pong back.
type queue[T any] struct {
	mutex sync.Mutex
	items []T
	wake  chan struct{}
}

func newQueue[T any]() *queue[T] {
	return &queue[T]{wake: make(chan struct{}, 1)}
}

func (q *queue[T]) push(items ...T) {
	q.mutex.Lock()
	q.items = append(q.items, items...)
	q.mutex.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take gives all items there are.
func (q *queue[T]) take() []T {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	items := q.items
	q.items = nil
	return items
}

// pop waits for items and gives all there are; none when ctx is done.
func (q *queue[T]) pop(ctx context.Context) []T {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-q.wake:
		}
		if items := q.take(); len(items) > 0 {
			return items
		}
	}
}

// batch puts requests together, so that many moves are one message of up to limit bytes. A message holds one
// pong and one capacity, and a goodbye stands alone as the last.
func batch(parts []*pb.PlayRequest, limit int) []*pb.PlayRequest {
	var batches []*pb.PlayRequest
	var open *pb.PlayRequest
	size := 0
	add := func(bytes int) *pb.PlayRequest {
		if open == nil || size+bytes > limit {
			open, size = &pb.PlayRequest{}, 0
			batches = append(batches, open)
		}
		size += bytes
		return open
	}
	for _, part := range parts {
		if part.Goodbye != nil {
			return append(batches, &pb.PlayRequest{Goodbye: part.Goodbye})
		}
		if part.Pong != nil {
			if open != nil && open.Pong != nil {
				open = nil
			}
			add(fieldSize(part.Pong)).Pong = part.Pong
		}
		if part.Capacity != nil {
			add(fieldSize(part.Capacity)).Capacity = part.Capacity // the last one counts
		}
		for _, move := range part.Moves {
			request := add(fieldSize(move))
			request.Moves = append(request.Moves, move)
		}
	}
	return batches
}

// fieldSize is how many bytes a message takes as a field of another: a byte for the tag, the length, itself.
func fieldSize(message proto.Message) int {
	return 1 + protowire.SizeBytes(proto.Size(message))
}
