package bigtwo.client;

import bigtwo.referee.v1.Action;
import bigtwo.referee.v1.ActionKind;
import bigtwo.referee.v1.DealStarted;
import bigtwo.referee.v1.Direction;
import bigtwo.referee.v1.Event;
import bigtwo.referee.v1.LegalPlay;
import bigtwo.referee.v1.Move;
import bigtwo.referee.v1.SessionStarted;
import bigtwo.referee.v1.TurnKind;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * A session without a network, to test a strategy with: the bot has seat 0, and is asked turn after turn. Cards are
 * texts, "3D 3C". The strategy gets everything as from a referee, and its failure fails the test.
 */
public final class Testing {
    /** A ruleset, as far as this client reads it: that of the preset "chinese". */
    public static final String CHINESE = """
        {"name": "chinese", "decks": 1,
        "ranks": ["3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A", "2"], "suits": ["D", "C", "H", "S"],
        "plays": ["single", "pair", "triple", "straight", "flush", "full_house", "quads", "straight_flush"],
        "last_top_card": "allowed", "draw_on_pass": "none"}
        """;

    private final List<Move> moves = new ArrayList<>();
    private final List<Action> actions = new ArrayList<>(); // since the last turn
    private final Table table;
    private int deals;
    private int turns;

    /** Begins a session of so many seats. */
    public Testing(Maker maker, String ruleset, int seats) {
        Consumer<String> quiet = line -> { };
        Consumer<StrategyFailed> failed = failure -> {
            throw new AssertionError(failure.getMessage(), failure.getCause());
        };
        table = new Table(maker, new AtOnce(), new Story(quiet, InstantSource.system()), quiet, failed, moves::add);
        table.take(Event.newBuilder().setSessionStarted(SessionStarted.newBuilder()
            .setSessionId("testing").setRuleset(ruleset).setSeat(0)
            .addAllSeats(IntStream.range(0, seats).mapToObj(seat -> "owner/bot" + seat + "@1").toList())
            .addAllScores(IntStream.range(0, seats).mapToObj(seat -> 0).toList())).build());
    }

    /** Begins the next deal, in which the bot has this hand, and each seat after it so many cards. */
    public Testing deal(String hand, Integer... others) {
        Cards cards = Cards.parse(hand);
        actions.clear();
        table.take(Event.newBuilder().setDealStarted(DealStarted.newBuilder()
            .setDeal(++deals).setDirection(Direction.DIRECTION_CLOCKWISE)
            .addAllHandValue(cards.list()).addHandSizes(cards.size()).addAllHandSizes(List.of(others))).build());
        return this;
    }

    /** Lets a seat play cards, or pass with none. What the bot itself answers happens without this. */
    public Testing happened(int seat, String cards) {
        return happened(seat, Cards.parse(cards), ActionKind.ACTION_KIND_PLAY);
    }

    private Testing happened(int seat, Cards cards, ActionKind kind) {
        actions.add(Action.newBuilder().setSeat(seat).addAllCardsValue(cards.list())
            .setKind(cards.isEmpty() ? ActionKind.ACTION_KIND_PASS : kind).build());
        return this;
    }

    /** Returns the bot's answer to a turn; the legal plays have commas between them, and a lead cannot be passed. */
    public Cards turn(String toBeat, String legal) {
        return turn(TurnKind.TURN_KIND_PLAY, toBeat, !toBeat.isEmpty(), legal);
    }

    /** Returns the bot's answer to a turn; throws AssertionError if it is not legal, or the strategy fails. */
    public Cards turn(TurnKind kind, String toBeat, boolean canPass, String legal) {
        List<Cards> plays = Arrays.stream(legal.split(",")).map(Cards::parse).filter(play -> !play.isEmpty()).toList();
        table.take(Event.newBuilder().setTurn(bigtwo.referee.v1.Turn.newBuilder()
            .setSequence(++turns).setKind(kind).setCanPass(canPass).addAllActions(actions)
            .addAllToBeatValue(Cards.parse(toBeat).list())
            .addAllLegalPlays(plays.stream()
                .map(play -> LegalPlay.newBuilder().addAllCardsValue(play.list()).build()).toList())).build());
        actions.clear();
        Cards answer = Cards.of(moves.get(moves.size() - 1).getCardsValueList());
        if (answer.isEmpty() ? !canPass : !plays.contains(answer)) {
            throw new AssertionError("not legal: " + (answer.isEmpty() ? "a pass" : answer));
        }
        if (kind != TurnKind.TURN_KIND_EXCHANGE) {
            boolean bombs = kind == TurnKind.TURN_KIND_BOMB;
            happened(0, answer, bombs ? ActionKind.ACTION_KIND_BOMB : ActionKind.ACTION_KIND_PLAY);
        }
        return answer;
    }

    /** Thinks while it is waited for. */
    private static final class AtOnce implements Thinker {
        @Override
        public <T> Runnable think(Callable<T> thought, Duration limit, Consumer<Outcome<T>> done) {
            done.accept(Thinker.outcome(thought));
            return () -> { };
        }
    }
}
