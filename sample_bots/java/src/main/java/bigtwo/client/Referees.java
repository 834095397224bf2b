package bigtwo.client;

import bigtwo.referee.v1.Referee;
import bigtwo.referee.v1.Welcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the bot knows of the arena's referees. A referee has a stable id and perhaps several addresses; the bot has one
 * stream to each referee that it can reach.
 */
final class Referees {
    /** Asks a referee for another number of sessions at once. */
    interface Asking {
        void ask(int sessions);
    }

    /** A referee that the bot is connected to. */
    private static final class Home {
        final String address;
        final Asking stream;
        final int share; // of the bot's sessions
        int asked; // how many it was asked for last

        Home(String address, Asking stream, int share) {
            this.address = address;
            this.stream = stream;
            this.share = share;
            asked = share;
        }
    }

    /** The addresses that the bot is connected to, or tries to be. */
    private final Set<String> dialled = new HashSet<>();
    /** To which referee an address led last, or is listed to lead. */
    private final Map<String, String> leads = new HashMap<>();
    /** The referees that the bot is connected to, by id. */
    private final Map<String, Home> live = new HashMap<>();
    /** The referees that could not be reached. */
    private final Set<String> missed = new HashSet<>();
    /** The list of the last welcome. */
    private List<Referee> listed = List.of();

    /** Notes that an address is dialled; returns whether it was not before. */
    boolean dial(String address) {
        return dialled.add(address);
    }

    /** Takes in a welcome. */
    void welcomed(String address, Welcome welcome, Asking stream) {
        String id = welcome.getRefereeId();
        live.put(id, new Home(address, stream, welcome.getMaxSessions()));
        leads.put(address, id);
        missed.remove(id);
        listed = welcome.getRefereesList();
        for (Referee referee : listed) {
            leads.putIfAbsent(referee.getAddress(), referee.getId());
        }
    }

    /**
     * Takes in that a stream has ended. Returns another address at which the bot is connected to the same referee, or
     * null: where there is one, this address is not needed.
     */
    String ended(String address, Failure failure) {
        if (!failure.refereeId().isEmpty()) {
            leads.put(address, failure.refereeId());
        }
        live.values().removeIf(home -> home.address.equals(address));
        String id = leads.get(address);
        Home home = live.get(id);
        if (home != null) {
            dialled.remove(address);
            return home.address;
        }
        missed.add(id);
        return null;
    }

    /** Lists the addresses of referees to which the bot has no stream, and tries to open none. */
    List<String> missing() {
        Set<String> tried = new HashSet<>();
        for (String address : dialled) {
            tried.add(leads.get(address));
        }
        List<String> addresses = new ArrayList<>();
        for (Referee referee : listed) {
            if (!live.containsKey(referee.getId()) && !tried.contains(referee.getId())
                && !dialled.contains(referee.getAddress())) {
                addresses.add(referee.getAddress());
            }
        }
        return addresses;
    }

    /**
     * Asks the only referee that can be reached for all sessions of the bot, and gives back what is too many when
     * another one can be reached again.
     */
    void share(int maxSessions) {
        Home alone = alone();
        for (Home home : live.values()) {
            int wanted = home == alone && maxSessions > 0 ? maxSessions : home.share;
            if (wanted != home.asked) {
                home.asked = wanted;
                home.stream.ask(wanted);
            }
        }
    }

    /** Returns the only referee that the bot can reach of several, or null. */
    private Home alone() {
        if (listed.size() < 2) {
            return null;
        }
        Home only = null;
        for (Referee referee : listed) {
            Home home = live.get(referee.getId());
            if (home == null && !missed.contains(referee.getId()) || home != null && only != null) {
                return null;
            }
            if (home != null) {
                only = home;
            }
        }
        return only;
    }
}
