package bigtwo.client;

import bigtwo.referee.v1.TurnKind;
import java.util.List;

/**
 * A decision that is asked of the bot.
 *
 * @param session how the session stands
 * @param legal all legal plays: by number of cards and kind, the weakest first
 * @param toBeat the play to beat; empty when leading
 * @param message the turn as it was sent: clocks, and all that is not needed often
 */
public record Turn(
    Session session,
    TurnKind kind,
    List<Cards> legal,
    Cards toBeat,
    boolean canPass,
    bigtwo.referee.v1.Turn message
) {
    static Turn of(Session session, bigtwo.referee.v1.Turn message) {
        List<Cards> legal =
            message.getLegalPlaysList().stream().map(play -> Cards.of(play.getCardsValueList())).toList();
        Cards toBeat = Cards.of(message.getToBeatValueList());
        return new Turn(session, message.getKind(), legal, toBeat, message.getCanPass(), message);
    }
}
