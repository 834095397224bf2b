package bigtwo.client;

import bigtwo.referee.v1.DealStarted;
import bigtwo.referee.v1.Direction;
import bigtwo.referee.v1.Event;
import bigtwo.referee.v1.LegalPlay;
import bigtwo.referee.v1.PlayResponse;
import bigtwo.referee.v1.SessionEnded;
import bigtwo.referee.v1.SessionStarted;
import bigtwo.referee.v1.TurnKind;
import java.util.List;

/** Events of a session with three seats and the handle 7, of which the bot has seat 1. */
final class Events {
    private Events() { }

    static PlayResponse.Builder response(Event... events) {
        return PlayResponse.newBuilder().addAllEvents(List.of(events));
    }

    static SessionStarted.Builder session() {
        return SessionStarted.newBuilder().setSession(7).setSessionId("cup/1/1/1").setSeat(1)
            .addAllSeats(List.of("a", "b", "c")).setRuleset("{'ranks': ['3', '4'], 'suits': ['D', 'C'], 'new': 1}"
                .replace('\'', '"'));
    }

    static Event started() {
        return started(7);
    }

    static Event started(int session) {
        return Event.newBuilder().setSessionStarted(session().setSession(session)).build();
    }

    static Event dealt(String hand) {
        Cards cards = Cards.parse(hand);
        return Event.newBuilder().setDealStarted(DealStarted.newBuilder().setSession(7).setDeal(3)
            .addAllHandValue(cards.list()).addAllHandSizes(List.of(3, cards.size(), 5))
            .setDirection(Direction.DIRECTION_ANTICLOCKWISE)).build();
    }

    static LegalPlay legal(String cards) {
        return LegalPlay.newBuilder().addAllCardsValue(Cards.parse(cards).list()).build();
    }

    static Event turn(int session) {
        return turn(bigtwo.referee.v1.Turn.newBuilder().setSession(session));
    }

    /** A turn with sequence 4 to play, unless it says otherwise, of the legal plays 3D and 3C 3H. */
    static Event turn(bigtwo.referee.v1.Turn.Builder turn) {
        if (turn.getKind() == TurnKind.TURN_KIND_UNSPECIFIED) {
            turn.setKind(TurnKind.TURN_KIND_PLAY);
        }
        return Event.newBuilder().setTurn(turn.setSequence(4)
            .addLegalPlays(legal("3D")).addLegalPlays(legal("3C 3H"))).build();
    }

    static Event ended(int session) {
        return Event.newBuilder().setSessionEnded(SessionEnded.newBuilder().setSession(session)).build();
    }
}
