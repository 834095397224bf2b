package bigtwo.client;

import bigtwo.referee.v1.Capacity;
import bigtwo.referee.v1.Goodbye;
import bigtwo.referee.v1.Hello;
import bigtwo.referee.v1.Move;
import bigtwo.referee.v1.PlayRequest;
import bigtwo.referee.v1.Pong;
import com.google.protobuf.CodedOutputStream;
import io.grpc.ClientCall;
import java.util.List;

/** Sends a stream's messages, from any thread but one at a time: gRPC's calls are not made for more. */
final class Outbox {
    /** Holds any move, whatever the welcome says. */
    private static final int SMALLEST_LIMIT = 4096;

    private final ClientCall<PlayRequest, ?> call;
    private int limit = SMALLEST_LIMIT;
    private boolean closed;

    Outbox(ClientCall<PlayRequest, ?> call) {
        this.call = call;
    }

    /** Sets how many bytes a message may have. */
    synchronized void limit(int bytes) {
        limit = Math.max(SMALLEST_LIMIT, bytes);
    }

    void hello(Hello hello) {
        send(PlayRequest.newBuilder().setHello(hello).build());
    }

    void pong(int id) {
        send(PlayRequest.newBuilder().setPong(Pong.newBuilder().setId(id)).build());
    }

    /** Asks for another number of sessions at once. */
    void ask(int sessions) {
        send(PlayRequest.newBuilder().setCapacity(Capacity.newBuilder().setMaxSessions(sessions)).build());
    }

    /** Sends moves in as few messages as it can. */
    synchronized void moves(List<Move> moves) {
        PlayRequest.Builder batch = PlayRequest.newBuilder();
        int size = 0;
        for (Move move : moves) {
            int bytes = CodedOutputStream.computeMessageSize(PlayRequest.MOVES_FIELD_NUMBER, move);
            if (size > 0 && size + bytes > limit) {
                send(batch.build());
                batch = PlayRequest.newBuilder();
                size = 0;
            }
            batch.addMoves(move);
            size += bytes;
        }
        if (size > 0) {
            send(batch.build());
        }
    }

    /** Says goodbye and ends this side of the stream. */
    synchronized void goodbye() {
        send(PlayRequest.newBuilder().setGoodbye(Goodbye.getDefaultInstance()).build());
        close();
    }

    private synchronized void send(PlayRequest request) {
        if (!closed) {
            call.sendMessage(request);
        }
    }

    private void close() {
        if (!closed) {
            closed = true;
            call.halfClose();
        }
    }

    /** Ends the call at once. */
    synchronized void cancel(String why) {
        closed = true;
        call.cancel(why, null);
    }

    /** Sends nothing more, since the call is over. */
    synchronized void over() {
        closed = true;
    }
}
