"""Accounts, API keys, signed-in browsers, owners and invitations."""

from datetime import timedelta
from typing import Any

import pytest
from argon2 import PasswordHasher

from arena.actors import Actor, KeyScope, Role
from arena.bots.versions import register_version
from arena.errors import ArenaError, NotAllowed, SpecError, StateError, TakenError, UnknownError
from arena.people import accounts, apikeys, browsers, invitations, owners
from arena.queries.operator import ChangeQuery, changes
from arena.store.storage import Storage
from tests.arena.conftest import NOBODYS
from tests.arena.fakes import ROOT, Clock

PASSWORD = "correct horse battery"


def sign_up(storage: Storage, clock: Clock, name: str) -> Actor:
    """Sign up, and return the actor of the new account."""
    accounts.sign_up(storage, name, PASSWORD, clock(), None, open_to_all=True)
    return browsers.sign_in(storage, name, PASSWORD, clock())[1]


def test_account_when_signed_up_then_its_bots_are_its_own_and_no_others(
    storage: Storage, clock: Clock
) -> None:
    ann = sign_up(storage, clock, "ann")
    assert ann == Actor(Role.AUTHOR, "ann", frozenset({"ann"}), ann.account_id)
    assert register_version(storage, ann, "ann/bot", clock()).bot == "ann/bot@1"
    sign_up(storage, clock, "bob")
    for other in ("bob/bot", "nobody/bot"):
        with pytest.raises(NotAllowed):
            register_version(storage, ann, other, clock())


@pytest.mark.parametrize("name", ["ann", "taken"])
def test_sign_up_when_the_name_is_an_accounts_or_an_owners_then_nothing_is_made(
    storage: Storage, clock: Clock, name: str
) -> None:
    sign_up(storage, clock, "ann")
    register_version(storage, ROOT, "taken/bot", clock())
    with pytest.raises(TakenError):
        accounts.sign_up(storage, name, PASSWORD, clock(), None, open_to_all=True)
    assert [one.account for one in accounts.list_accounts(storage, ROOT)] == ["ann"]


@pytest.mark.parametrize(
    ("name", "password", "field"),
    [
        ("Ann", PASSWORD, "account"),
        ("-a", PASSWORD, "account"),
        ("ann", "short", "password"),
        ("ann", "x" * 201, "password"),
    ],
)
def test_sign_up_when_something_is_wrong_then_the_field_is_named(
    storage: Storage, clock: Clock, name: str, password: str, field: str
) -> None:
    with pytest.raises(SpecError) as refused:
        accounts.sign_up(storage, name, password, clock(), None, open_to_all=True)
    assert refused.value.field == field


def test_sign_up_when_it_takes_an_invitation_then_a_code_is_good_once_and_for_a_week(
    storage: Storage, clock: Clock
) -> None:
    def sign_up_with(name: str, code: str | None) -> accounts.AccountInfo:
        return accounts.sign_up(storage, name, PASSWORD, clock(), code, open_to_all=False)

    for code in (None, "bt_invitation_guessed"):
        with pytest.raises(SpecError, match=r"^invitation: "):
            sign_up_with("ann", code)
    code = invitations.invite(storage, ROOT, Role.ORGANISER, clock()).code
    assert sign_up_with("ann", code).role is Role.ORGANISER
    with pytest.raises(SpecError, match="used already"):
        sign_up_with("bob", code)
    late = invitations.invite(storage, ROOT, Role.AUTHOR, clock()).code
    clock.move(timedelta(days=7).total_seconds())
    with pytest.raises(SpecError, match="expired on"):
        sign_up_with("bob", late)


def test_sign_up_when_it_is_refused_then_the_invitation_is_not_used_up(
    storage: Storage, clock: Clock
) -> None:
    code = invitations.invite(storage, ROOT, Role.AUTHOR, clock()).code
    register_version(storage, ROOT, "taken/bot", clock())
    with pytest.raises(TakenError):
        accounts.sign_up(storage, "taken", PASSWORD, clock(), code, open_to_all=False)
    assert accounts.sign_up(storage, "ann", PASSWORD, clock(), code, open_to_all=False).account == "ann"


def test_first_invitation_when_there_is_an_account_then_there_is_none(storage: Storage, clock: Clock) -> None:
    first = invitations.invite_first(storage, clock())
    assert first is not None
    made = accounts.sign_up(storage, "root", PASSWORD, clock(), first.code, open_to_all=False)
    assert made.role is Role.OPERATOR
    assert invitations.invite_first(storage, clock()) is None


def test_browser_when_it_signs_out_or_is_not_used_then_it_is_nobody(storage: Storage, clock: Clock) -> None:
    ann = sign_up(storage, clock, "ann")
    session, _ = browsers.sign_in(storage, "ann", PASSWORD, clock())
    other, _ = browsers.sign_in(storage, "ann", PASSWORD, clock())
    clock.move(timedelta(days=13).total_seconds())
    assert browsers.actor_in_browser(storage, session, clock()) == ann
    clock.move(timedelta(days=13).total_seconds())
    assert browsers.actor_in_browser(storage, session, clock()) == ann
    assert browsers.actor_in_browser(storage, other, clock()) is None
    browsers.sign_out(storage, session)
    assert browsers.actor_in_browser(storage, session, clock()) is None


def test_sign_in_when_name_or_password_is_wrong_then_both_are_told_the_same(
    storage: Storage, clock: Clock
) -> None:
    sign_up(storage, clock, "ann")
    told = set()
    for name, password in (("ann", "not this one"), ("nobody", PASSWORD), ("ann", "x" * 100_000)):
        with pytest.raises(NotAllowed) as refused:
            browsers.sign_in(storage, name, password, clock())
        told.add(str(refused.value))
    assert len(told) == 1


def test_account_when_it_is_disabled_then_browsers_and_keys_are_refused_until_it_is_enabled(
    storage: Storage, clock: Clock
) -> None:
    ann = sign_up(storage, clock, "ann")
    key = apikeys.create_key(storage, ann, "ci", ["read"], clock()).key
    session, _ = browsers.sign_in(storage, "ann", PASSWORD, clock())
    accounts.change_account(storage, ROOT, "ann", clock(), disabled=True)
    assert browsers.actor_in_browser(storage, session, clock()) is None
    assert apikeys.holder_of(storage, key, clock()) is None
    with pytest.raises(NotAllowed, match="disabled"):
        browsers.sign_in(storage, "ann", PASSWORD, clock())
    with pytest.raises(StateError):
        accounts.change_account(storage, ROOT, "ann", clock(), disabled=True)
    accounts.change_account(storage, ROOT, "ann", clock(), disabled=False)
    assert apikeys.holder_of(storage, key, clock()) is not None


def test_password_when_changed_then_all_browsers_are_signed_out(storage: Storage, clock: Clock) -> None:
    ann = sign_up(storage, clock, "ann")
    session, _ = browsers.sign_in(storage, "ann", PASSWORD, clock())
    with pytest.raises(SpecError, match="old_password"):
        accounts.change_password(storage, ann, "wrong password", "another password", clock())
    assert browsers.actor_in_browser(storage, session, clock()) == ann
    accounts.change_password(storage, ann, PASSWORD, "another password", clock())
    assert browsers.actor_in_browser(storage, session, clock()) is None
    with pytest.raises(NotAllowed):
        browsers.sign_in(storage, "ann", PASSWORD, clock())
    assert browsers.sign_in(storage, "ann", "another password", clock())[1] == ann


def test_reset_when_its_code_is_used_then_the_password_is_new_and_the_code_works_no_more(
    storage: Storage, clock: Clock
) -> None:
    sign_up(storage, clock, "ann")
    session, ann = browsers.sign_in(storage, "ann", PASSWORD, clock())
    made = accounts.offer_reset(storage, ROOT, "ann", clock(), "https://arena.test/reset-password")
    assert made.link == f"https://arena.test/reset-password?code={made.code}"
    assert browsers.actor_in_browser(storage, session, clock()) == ann  # until it is used
    with pytest.raises(SpecError, match=r"^password: "):
        accounts.use_reset(storage, made.code, "short", clock())
    accounts.use_reset(storage, made.code, "another horse battery", clock())
    assert browsers.actor_in_browser(storage, session, clock()) is None
    with pytest.raises(NotAllowed):
        browsers.sign_in(storage, "ann", PASSWORD, clock())
    assert browsers.sign_in(storage, "ann", "another horse battery", clock())[1] == ann
    with pytest.raises(SpecError, match=r"^code: unknown, used or expired"):
        accounts.use_reset(storage, made.code, PASSWORD, clock())
    told = [(one.actor.account, one.action) for one in changes(storage, ROOT, ChangeQuery("ann")).entries]
    assert told[:2] == [("ann", "account.password"), (ROOT.account, "account.reset")]


def test_reset_when_it_is_late_replaced_or_overtaken_then_its_code_is_void(
    storage: Storage, clock: Clock
) -> None:
    ann = sign_up(storage, clock, "ann")
    accounts.create_account(storage, ROOT, "root", Role.OPERATOR, clock(), PASSWORD)
    _, root = browsers.sign_in(storage, "root", PASSWORD, clock())

    def offered(actor: Actor = ROOT) -> str:
        return accounts.offer_reset(storage, actor, "ann", clock(), "").code

    def is_void(code: str) -> bool:
        try:
            return not accounts.check_reset(storage, code, clock())
        except SpecError:
            return True

    first, second = offered(), offered()
    assert (is_void(first), is_void(second)) == (True, False)
    clock.now += accounts.GOOD_FOR
    assert is_void(second)
    changed = offered()
    accounts.change_password(storage, ann, PASSWORD, "another horse battery", clock())
    assert is_void(changed)
    disabled = offered()
    accounts.change_account(storage, ROOT, "ann", clock(), disabled=True)
    with pytest.raises(StateError):
        offered()
    accounts.change_account(storage, ROOT, "ann", clock(), disabled=False)
    assert is_void(disabled)
    meanwhile = offered()
    with storage.write() as tx:  # as by a request that had not seen the code yet
        accounts.find_account(tx, "ann").disabled_at = clock()
    assert is_void(meanwhile)
    accounts.change_account(storage, ROOT, "ann", clock(), disabled=False)
    demoted = offered(root)
    assert not is_void(demoted)
    accounts.change_account(storage, ROOT, "root", clock(), role=Role.ORGANISER)
    assert is_void(demoted)
    with pytest.raises(NotAllowed):
        offered(ann)


def test_key_when_made_then_it_has_its_scopes_until_it_expires_or_is_revoked(
    storage: Storage, clock: Clock
) -> None:
    ann = sign_up(storage, clock, "ann")
    made = apikeys.create_key(storage, ann, "ci", ["bots", "read"], clock(), 30)
    assert made.scopes == (KeyScope.READ, KeyScope.BOTS)
    assert apikeys.holder_of(storage, made.key, clock()) == ann.limited(
        frozenset(made.scopes), made.expires_at
    )
    assert apikeys.holder_of(storage, made.key + "x", clock()) is None
    [listed] = apikeys.list_keys(storage, ann)
    assert (listed.name, listed.last_used_on) == ("ci", clock().date())
    clock.move(timedelta(days=30).total_seconds())
    assert apikeys.holder_of(storage, made.key, clock()) is None
    second = apikeys.create_key(storage, ann, "second", ["read"], clock())
    apikeys.revoke_key(storage, ann, "second", clock())
    assert apikeys.holder_of(storage, second.key, clock()) is None


def test_key_when_it_makes_a_key_then_that_one_is_good_for_no_more(storage: Storage, clock: Clock) -> None:
    ann = sign_up(storage, clock, "ann")
    key = ann.limited(frozenset({KeyScope.ACCOUNT, KeyScope.READ}))
    with pytest.raises(NotAllowed, match="bots"):
        apikeys.create_key(storage, key, "more", ["bots"], clock())
    assert apikeys.create_key(storage, key, "same", ["read"], clock()).scopes == (KeyScope.READ,)


def test_keys_when_they_are_anothers_then_they_are_unknown(storage: Storage, clock: Clock) -> None:
    ann, bob = sign_up(storage, clock, "ann"), sign_up(storage, clock, "bob")
    apikeys.create_key(storage, ann, "secret-plan", ["read"], clock())
    with pytest.raises(UnknownError) as refused:
        apikeys.revoke_key(storage, bob, "secret-plam", clock())
    assert "secret-plan" not in str(refused.value)
    assert apikeys.list_keys(storage, bob) == []


def test_owner_when_somebody_is_invited_then_its_bots_are_both_their_own_until_one_leaves(
    storage: Storage, clock: Clock
) -> None:
    ann, bob = sign_up(storage, clock, "ann"), sign_up(storage, clock, "bob")
    owners.create_owner(storage, ann, "team", clock())
    ann = browsers.sign_in(storage, "ann", PASSWORD, clock())[1]
    with pytest.raises(NotAllowed):
        invitations.invite(storage, bob, Role.AUTHOR, clock(), "team")
    code = invitations.invite(storage, ann, Role.AUTHOR, clock(), "team").code
    assert invitations.join_owner(storage, bob, code, clock()) == "team"
    bob = browsers.sign_in(storage, "bob", PASSWORD, clock())[1]
    assert bob.owners == {"bob", "team"}
    assert register_version(storage, bob, "team/bot", clock()).bot == "team/bot@1"
    assert owners.show_owner(storage, bob, "team").members == ("ann", "bob")
    clock.move(1)
    owners.leave_owner(storage, bob, "team", "bob", clock())
    assert browsers.sign_in(storage, "bob", PASSWORD, clock())[1].owners == {"bob"}
    with pytest.raises(StateError, match="last member"):
        owners.leave_owner(storage, ann, "team", "ann", clock())


def test_member_when_it_joined_later_then_it_removes_nobody_who_was_there_before(
    storage: Storage, clock: Clock
) -> None:
    names = ("ann", "bob", "cat")
    for name in names:
        sign_up(storage, clock, name)
    owners.create_owner(storage, signed_in(storage, clock, "ann"), "team", clock())
    for name in names[1:]:
        clock.move(1)
        code = invitations.invite(
            storage, signed_in(storage, clock, "ann"), Role.AUTHOR, clock(), "team"
        ).code
        invitations.join_owner(storage, signed_in(storage, clock, name), code, clock())
    _, bob, cat = (signed_in(storage, clock, name) for name in names)
    for actor, other in ((bob, "ann"), (cat, "ann"), (cat, "bob")):
        with pytest.raises(NotAllowed, match=f"remove {other} from team"):
            owners.leave_owner(storage, actor, "team", other, clock())
    owners.leave_owner(storage, bob, "team", "cat", clock())
    owners.leave_owner(storage, ROOT, "team", "ann", clock())
    assert owners.show_owner(storage, ROOT, "team").members == ("bob",)


def signed_in(storage: Storage, clock: Clock, name: str) -> Actor:
    return browsers.sign_in(storage, name, PASSWORD, clock())[1]


def test_owners_when_an_account_was_counted_before_then_it_still_has_no_more_than_allowed(
    storage: Storage, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owners, "MOST_OWNERS", 2)
    ann = sign_up(storage, clock, "ann")
    owners.create_owner(storage, ann, "team", clock())
    with pytest.raises(StateError, match="ann has 2 owners already"):
        owners.create_owner(storage, ann, "crew", clock())  # whoever asks knows only of one


@pytest.mark.parametrize("change", ["disabled", "demoted"])
def test_invitation_when_its_maker_could_no_longer_make_it_then_it_is_not_valid(
    storage: Storage, clock: Clock, change: str
) -> None:
    accounts.create_account(storage, ROOT, "olga", Role.OPERATOR, clock(), PASSWORD)
    olga = signed_in(storage, clock, "olga")
    codes = [invitations.invite(storage, olga, role, clock()).code for role in list(Role)[1:]]
    if change == "disabled":
        accounts.change_account(storage, ROOT, "olga", clock(), disabled=True)
    else:
        accounts.change_account(storage, ROOT, "olga", clock(), role=Role.ORGANISER)
    for code in codes:
        with pytest.raises(SpecError, match="unknown, used or expired"):
            accounts.sign_up(storage, "ann", PASSWORD, clock(), code, open_to_all=False)
    if change == "demoted":
        accounts.change_account(storage, ROOT, "olga", clock(), role=Role.OPERATOR)
        accounts.sign_up(storage, "ann", PASSWORD, clock(), codes[0], open_to_all=False)


def test_invitation_to_an_owner_when_its_maker_has_left_then_it_is_not_valid(
    storage: Storage, clock: Clock
) -> None:
    ann, bob = sign_up(storage, clock, "ann"), sign_up(storage, clock, "bob")
    clock.move(1)
    code = invitations.invite(storage, ann, Role.AUTHOR, clock(), "ann").code
    invitations.join_owner(storage, bob, code, clock())
    bob = signed_in(storage, clock, "bob")
    late = invitations.invite(storage, bob, Role.AUTHOR, clock(), "ann").code
    owners.leave_owner(storage, ann, "ann", "bob", clock())
    with pytest.raises(SpecError, match="unknown, used or expired"):
        accounts.sign_up(storage, "cat", PASSWORD, clock(), late, open_to_all=True)


def test_invitations_when_listed_and_revoked_then_members_have_those_to_their_owners(
    storage: Storage, clock: Clock
) -> None:
    ann, bob = sign_up(storage, clock, "ann"), sign_up(storage, clock, "bob")
    arena = invitations.invite(storage, ROOT, Role.ORGANISER, clock())
    team = invitations.invite(storage, ann, Role.AUTHOR, clock(), "ann")

    def listed(actor: Actor) -> list[tuple[int, str | None, str]]:
        found = invitations.list_invitations(storage, actor, clock())
        return [(one.number, one.owner, one.invited_by) for one in found]

    both = [(team.number, "ann", "ann"), (arena.number, None, "root")]
    assert (listed(ROOT), listed(ann), listed(bob)) == (both, both[:1], [])
    for actor, number in ((bob, team.number), (ann, arena.number), (ann, 99)):
        with pytest.raises(NotAllowed):
            invitations.revoke_invitation(storage, actor, number, clock())
    invitations.revoke_invitation(storage, ann, team.number, clock())
    with pytest.raises(UnknownError, match="no unused invitation"):
        invitations.revoke_invitation(storage, ROOT, team.number, clock())
    with pytest.raises(SpecError, match="unknown, used or expired"):
        invitations.join_owner(storage, bob, team.code, clock())
    clock.move(timedelta(days=7).total_seconds())
    assert listed(ROOT) == []


def test_roles_when_they_change_then_the_next_request_has_them(storage: Storage, clock: Clock) -> None:
    ann = sign_up(storage, clock, "ann")
    key = apikeys.create_key(storage, ann, "ci", ["read"], clock()).key
    accounts.change_account(storage, ROOT, "ann", clock(), role=Role.ORGANISER)
    holder = apikeys.holder_of(storage, key, clock())
    assert holder is not None
    assert holder.role is Role.ORGANISER
    with pytest.raises(ArenaError):
        accounts.change_account(storage, ROOT, "ann", clock(), role=Role.ANONYMOUS)


@pytest.mark.parametrize("wrong", [{"password": "short"}, {"disabled": False}])
def test_account_when_some_of_a_change_is_refused_then_none_of_it_is_done(
    storage: Storage, clock: Clock, wrong: dict[str, Any]
) -> None:
    sign_up(storage, clock, "ann")
    before = changes(storage, ROOT, ChangeQuery()).entries
    with pytest.raises((SpecError, StateError)):
        accounts.change_account(storage, ROOT, "ann", clock(), role=Role.OPERATOR, **wrong)
    assert accounts.show_account(storage, ROOT, "ann").role is Role.AUTHOR
    assert changes(storage, ROOT, ChangeQuery()).entries == before


def test_secrets_when_stored_then_only_hashes_are(storage: Storage, clock: Clock) -> None:
    ann = sign_up(storage, clock, "ann")
    key = apikeys.create_key(storage, ann, "ci", ["read"], clock()).key
    session, _ = browsers.sign_in(storage, "ann", PASSWORD, clock())
    code = invitations.invite(storage, ROOT, Role.AUTHOR, clock()).code
    with storage.connect() as connection:
        tables = ("accounts", "api_keys", "browser_sessions", "invitations", "audit")
        stored = str([connection.exec_driver_sql(f"SELECT * FROM {table}").all() for table in tables])
    assert "ann" in stored
    assert not [secret for secret in (PASSWORD, key, session, code) if secret in stored]


def test_password_when_there_is_no_account_then_it_is_compared_at_the_same_cost() -> None:
    assert not PasswordHasher().check_needs_rehash(NOBODYS)


YEAR = timedelta(days=365).total_seconds()


def test_codes_and_browsers_when_a_clock_was_a_year_ahead_then_they_last_no_longer(
    storage: Storage, clock: Clock
) -> None:
    sign_up(storage, clock, "ann")
    clock.move(YEAR)
    code = invitations.invite(storage, ROOT, Role.AUTHOR, clock()).code
    reset = accounts.offer_reset(storage, ROOT, "ann", clock(), "")
    session, _ = browsers.sign_in(storage, "ann", PASSWORD, clock())
    clock.move(-YEAR)
    with pytest.raises(SpecError, match="invitation: "):
        invitations.check_invitation(storage, code, clock())
    assert invitations.list_invitations(storage, ROOT, clock()) == []
    with pytest.raises(SpecError, match="code: "):
        accounts.check_reset(storage, reset.code, clock())
    assert browsers.actor_in_browser(storage, session, clock()) is not None
    clock.move(browsers.STAYS.total_seconds())
    assert browsers.actor_in_browser(storage, session, clock()) is None
