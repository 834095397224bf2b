package client

import (
	"testing"

	"google.golang.org/protobuf/proto"

	pb "bigtwo-arena/sample-bot/referee/v1"
)

func moves(sequences ...uint32) *pb.PlayRequest {
	request := &pb.PlayRequest{}
	for _, sequence := range sequences {
		request.Moves = append(request.Moves, &pb.Move{Session: 1, Sequence: sequence, Passes: true})
	}
	return request
}

func pong(id uint32) *pb.PlayRequest { return &pb.PlayRequest{Pong: &pb.Pong{Id: id}} }

func TestBatchPutsTogetherWhatFits(t *testing.T) {
	goodbye := &pb.PlayRequest{Goodbye: &pb.Goodbye{}}
	both := moves(1, 2, 3)
	both.Pong = &pb.Pong{Id: 9}
	for name, test := range map[string]struct {
		parts, want []*pb.PlayRequest
		limit       int
	}{
		"moves and a pong":     {[]*pb.PlayRequest{moves(1), pong(9), moves(2, 3)}, []*pb.PlayRequest{both}, 100},
		"two pongs":            {[]*pb.PlayRequest{pong(1), pong(2)}, []*pb.PlayRequest{pong(1), pong(2)}, 100},
		"a limit of two moves": {[]*pb.PlayRequest{moves(1, 2, 3)}, []*pb.PlayRequest{moves(1, 2), moves(3)}, 16},
		"a goodbye":            {[]*pb.PlayRequest{moves(1), goodbye, moves(2)}, []*pb.PlayRequest{moves(1), goodbye}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			got := batch(test.parts, test.limit)
			if len(got) != len(test.want) {
				t.Fatalf("%v", got)
			}
			for i, request := range got {
				if !proto.Equal(request, test.want[i]) || proto.Size(request) > test.limit {
					t.Errorf("message %d is %v, not %v", i, request, test.want[i])
				}
			}
		})
	}
}
