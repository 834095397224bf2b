package bigtwo.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;

/**
 * Why a stream ended.
 *
 * @param reason the name of an ErrorReason without its prefix; empty where gRPC itself or a proxy ended the stream
 * @param refereeId the referee that has a stream of the bot already; empty for other reasons
 * @param delay the least wait before the next attempt; null where the referee names none
 */
record Failure(Status.Code code, String text, String reason, String refereeId, Duration delay) {
    /** The domain of every reason that comes from a referee. */
    static final String DOMAIN = "bigtwo.referee";

    /** Reads why a call ended. */
    static Failure of(Status status, Metadata trailers) {
        String reason = "";
        String refereeId = "";
        Duration delay = null;
        for (Any detail : StatusProto.fromStatusAndTrailers(status, trailers).getDetailsList()) {
            try {
                if (detail.is(ErrorInfo.class)) {
                    ErrorInfo info = detail.unpack(ErrorInfo.class);
                    if (info.getDomain().equals(DOMAIN)) {
                        reason = info.getReason();
                        refereeId = info.getMetadataOrDefault("referee_id", "");
                    }
                } else if (detail.is(RetryInfo.class)) {
                    delay = duration(detail.unpack(RetryInfo.class).getRetryDelay());
                }
            } catch (InvalidProtocolBufferException unreadable) {
                // As if it were not there.
            }
        }
        String text = status.isOk() ? "the referee ended the stream" : String.valueOf(status.getDescription());
        return new Failure(status.getCode(), text, reason, refereeId, delay);
    }

    static Duration duration(com.google.protobuf.Duration message) {
        return Duration.ofSeconds(message.getSeconds(), message.getNanos());
    }

    /** Tells whether another attempt would fail in the same way: the referee gave a reason and no delay. */
    boolean isFinal() {
        return !reason.isEmpty() && delay == null;
    }

    /** Returns the reason that the referee gave, or gRPC's code. */
    String kind() {
        return reason.isEmpty() ? code.name() : reason;
    }

    @Override
    public String toString() {
        return kind() + ": " + text;
    }
}
