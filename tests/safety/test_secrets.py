import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.safety.secrets import Secret, find_secrets, redact


def kinds(text: str) -> list[str]:
    return [secret.kind for secret in find_secrets(text)]


def luhn(body: str) -> str:
    total = sum(sum(divmod(int(c) * (2 - place % 2), 10)) for place, c in enumerate(reversed(body)))
    return body + str(-total % 10)


def iban(country: str, account: str) -> str:
    digits = "".join(str(int(c, 36)) for c in f"{account}{country}00")
    return f"{country}{98 - int(digits) % 97:02d}{account}"


CARDS = st.tuples(st.sampled_from(["4", "51", "55", "2221"]), st.integers(0, 10**15 - 1)).map(
    lambda parts: luhn((parts[0] + f"{parts[1]:015d}")[:15])
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("btw it is sk-proj-Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg", "token"),
        ("ghp_16C7e42F292c6912E7710c838347Ae178B4a works", "token"),
        ("aws AKIAQ3EGRIPEXMPLWB7A", "token"),
        ("postgres://ana:hunter22@db.internal/app", "token"),
        ('curl -H "Authorization: Bearer 9f8e7d6c5b4a39281706"', "token"),
        ("password: correctHorse7", "password"),
        ("PGPASSWORD='Tr0ub4dor&3' psql", "password"),
        ("deploy --token a81cbe81f002aa", "token"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "private_key"),
        ("my wifi password is otterLemon42", "password"),
        ("the password for my laptop is swordfish.", "password"),
        ("Mein Passwort lautet sonneBlau9", "password"),
        ("mi contraseña es gatoAzul77", "password"),
        ("мой пароль zima2020!", "password"),
        ("我的密码是abc12345", "password"),
        ("the pin for my card is 4821", "pin"),
        ("my ssn is 219-09-9999", "ssn"),
        ("redis://:k1ngfisher@cache:6379/0", "token"),
        ("https://shop.example/reset/token/Zx81kPq02LmNv77aQwErTy", "token"),
        ("the activation code is QX7TR-88KLM-2PPVW-ZZ19A", "token"),
        ("MIIEpAIBAAKCAQEA2mKqH0bq6m1yXq9rV0tLw0Zq3nW8cYb5uJ", "token"),
        ("my 2fa backup codes are 9f2k-77dp 3m1x-q8zt", "token"),
        ("SERVICE_SECRET=aBcDeFgH/K7JKLMNO/pQrStUvWxYzAbCd", "token"),
        ("I set my router password to Quartz!Lamp", "password"),
        ("sign in with user lena and password mangoes44", "password"),
        ("login is admin / Autumn2031!", "password"),
        ("type Falcon93 as the password", "password"),
        ('password: "seven green lanterns drifting"', "password"),
        ("the gate code's 8842#", "pin"),
        ("the locker combination is 31-7-22", "pin"),
        ("5105 1051 0510 5100 is my card", "card"),
        ("pay with 4012.8888.8888.1881", "card"),
        ("5105\u00a01051\u00a00510\u00a05100 is my card", "card"),
        ("pay with 4012 – 8888 – 8888 – 1881", "card"),
        ("it says 3782.822463.10005", "card"),
        ("my card:\n5105 1051\n0510 5100", "card"),
        ("2200 0000 0000 0004 from the bank", "card"),
        (f"recovery phrase: {' '.join(['river', 'apple', 'stone'] * 4)}", "seed_phrase"),
        (f"my 12 words: {', '.join(['river', 'apple', 'stone'] * 4)} and that is all", "seed_phrase"),
        (f"wallet backup: {' '.join(f'{n}. river' for n in range(1, 13))}", "seed_phrase"),
        (f"seed phrase:\n{' '.join(['river'] * 6)}\n{' '.join(['stone'] * 6)}", "seed_phrase"),
        ("wifi pw quartzLamp88", "password"),
        ("my password? it's quartzLamp88", "password"),
        ("my new password will be quartzLamp88", "password"),
        ("my password is myCat2019!", "password"),
        ("das Passwort vom Router lautet lampeBlau9", "password"),
        ("the code for the back door is 8842", "pin"),
        ("мой пин 8842", "pin"),
        ("the cvv 884", "pin"),
        (f"hvs.{'aB3' * 30}", "token"),
        (f"my twilio auth token {'0a1b2c3d' * 4}", "token"),
    ],
)
@pytest.mark.req("R2.12", "R4.6")
def test_secrets_are_found_by_kind(text: str, kind: str) -> None:
    assert kinds(text) == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my password again, it is so long",
        "my password is not working",
        "the key to a good marriage is patience",
        "Call me at 555-010-9999 or +49 30 1234567",
        "the token of my love: a ring",
        "ana.lopez@example.org is my address",
        "password = 'your_password_here'",
        "We met on 2023-05-17 at 18:30, room 1204",
        "order 1234 5678 9012 3456 arrived",
        "https://example.com/some/long-article-name-about-gardens",
        "antidisestablishmentarianismandmore of that",
        "The secret is: never stop learning.",
        "My pin collection is huge",
        "Sign in with your user name and password first",
        "I changed my password to something longer",
        "Use a sentence as the password, not a word",
        "the product code of the lamp is on the box",
        "log in / sign up is on the left",
        "the combination of basil and tomato is great",
        "The door code changed, ask Tom",
        "read https://blog.example/keys/how-to-choose-good-house-keys",
        "password = request.form['password']",
        "the serial number of the episode is 4",
        f"bisect says {'0a1b2c3d4e5f67' * 3:.40} broke it",
        f"the sha256 of the image is {'0a1b2c3d4e5f6789' * 4}",
        f'<script integrity="sha384-{"aB3dE7fGh2JkL9mNpQ" * 4:.64}" src="x.js">',
        "password = models.CharField(max_length=128)",
        "password = PasswordInput(attrs={'size': 30})",
        "stored_password = scrypt3.derive_from(plain)",
        "take Libhash-Plus2 for password checking",
        "order 639-6595432-6607495 is late",
        "the security code is 90% covered by tests",
    ],
)
def test_ordinary_talk_holds_no_secret(text: str) -> None:
    assert find_secrets(text) == []


@given(CARDS, st.sampled_from(["", " ", "-"]))
def test_cards_are_found_and_one_wrong_digit_is_not_a_card(card: str, between: str) -> None:
    shown = between.join(card[i : i + 4] for i in range(0, 16, 4))
    wrong = shown[:-1] + str((int(shown[-1]) + 1) % 10)
    if len(set(card)) > 1:
        assert kinds(f"it is {shown}, thanks") == ["card"]
    assert "card" not in kinds(f"it is {wrong}, thanks")


@given(st.sampled_from([("DE", 18), ("GB", 18), ("NL", 14), ("FR", 23)]), st.randoms(use_true_random=False))
def test_ibans_are_found_in_any_grouping(country: tuple[str, int], dice: random.Random) -> None:
    account = "".join(dice.choice("0123456789") for _ in range(country[1]))
    number = iban(country[0], account)
    grouped = " ".join(number[i : i + 4] for i in range(0, len(number), 4))
    assert kinds(f"send it to {number} please") == ["iban"]
    assert "iban" in kinds(f"send it to {grouped} please")
    broken = number[:4] + str((int(number[4]) + 1) % 10) + number[5:]
    assert "iban" not in kinds(broken)


@given(st.text(max_size=300))
def test_spans_are_ordered_apart_and_inside(text: str) -> None:
    found = find_secrets(text)
    edges = [edge for secret in found for edge in (secret.start, secret.end)]
    assert edges == sorted(edges)
    assert all(0 <= secret.start < secret.end <= len(text) for secret in found)


def test_redacting_leaves_the_sentence_and_takes_the_secret() -> None:
    assert redact("my wifi password is otterLemon42, ok?") == "my wifi password is [password], ok?"
    assert find_secrets("password: correctHorse7") == [Secret(10, 23, "password")]


@pytest.mark.parametrize(
    "piece", ["password ", "a=", "-", "1 ", "eyJ", "x" * 50 + " ", "key:key:", "://a:", "1", "1-", "1234.", "a1"]
)
def test_hostile_length_still_ends(piece: str) -> None:
    before = time.process_time()
    find_secrets(piece * (40_000 // len(piece)))
    assert time.process_time() - before < 3


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("OtterLagoon_5512", "OtterLagoon_5512"),
        ("Tortuga_8830 ", "Tortuga_8830"),
        ("the pin's four oh one nine don't write that down", "four oh one nine"),
        ("my card pin is, uh, double seven two three", "double seven two three"),
        ("la clave es cuatro cuatro uno nueve", "cuatro cuatro uno nueve"),
        ("die pin ist drei null acht fünf", "drei null acht fünf"),
        ("Your one-time code is 412 907. Do not share it.", "412 907"),
        ("Tu código de verificación es 4129", "4129"),
        ("验证码：412907", "412907"),
        ("the pin's 4821", "4821"),
    ],
)
def test_codes_are_found_as_people_say_and_paste_them(text: str, secret: str) -> None:
    assert [text[found.start : found.end] for found in find_secrets(text)] == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "see you at four, one of nine",
        "the dress code: one two-piece",
        "I counted one two three four five",
        "confirmation code for the flight is in the mail",
        "verification took 20 minutes",
        "IMG_2034.JPG",
        "hahahahaha123",
        "Donaudampfschiff",
        "COVID-19!!",
        "https://example.com/AbCdEf1234",
        "@SomeHandle42",
        "#HashTag2024x",
    ],
)
def test_what_only_looks_like_a_code_is_none(text: str) -> None:
    assert find_secrets(text) == []
