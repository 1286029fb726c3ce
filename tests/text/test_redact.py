"""Secrets out, everything else stays. All secrets here are made up."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from errata.text.redact import redact, redact_tree

HEX = "0123456789abcdef0123456789abcdef"
LETTERS = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCd"
PRIVATE_KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{LETTERS}\n{LETTERS}==\n-----END RSA PRIVATE KEY-----"

# (the text, what must be gone, the kind that stands in its place)
BY_SHAPE = [
    (f"key sk-ant-api03-{LETTERS} used", LETTERS, "anthropic-key"),
    (f"sk-proj-{LETTERS}", LETTERS, "openai-key"),
    (f"sk-{LETTERS}", LETTERS, "openai-key"),
    (f"sk-or-v1-{HEX}", HEX, "openrouter-key"),
    (f"clone with ghp_{LETTERS[:36]}!", LETTERS[:36], "github-token"),
    (f"github_pat_11ABC_{LETTERS}", LETTERS, "github-token"),
    (f"glpat-{LETTERS[:20]}", LETTERS[:20], "gitlab-token"),
    ("id AKIAIOSFODNN7EXAMPLE.", "AKIAIOSFODNN7EXAMPLE", "aws-key-id"),
    (f"AIza{LETTERS[:35]}", LETTERS[:35], "google-key"),
    ("xoxb-123456789012-abcdefABCDEF", "abcdefABCDEF", "slack-token"),
    (f"hf_{LETTERS[:34]}", LETTERS[:34], "hugging-face-token"),
    (f"sk_live_{LETTERS[:24]}", LETTERS[:24], "stripe-key"),
    (f"npm_{LETTERS[:36]}", LETTERS[:36], "npm-token"),
    (f"pypi-AgEIcHlwaS5vcmc{LETTERS}", LETTERS, "pypi-token"),
    (f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{HEX}", HEX, "jwt"),
    (f"prod:happy-otter-123|{LETTERS}==", LETTERS, "convex-key"),
    (f"curl -H 'Authorization: Bearer {HEX}'", HEX, "bearer"),
    ("postgres://admin:hunter2@db.example.org/x", "hunter2", "url-password"),
    (PRIVATE_KEY, LETTERS, "private-key"),
    (PRIVATE_KEY.replace("\n", "\\n"), LETTERS, "private-key"),
    (f"-----BEGIN PRIVATE KEY-----\n{LETTERS}\ncut off", LETTERS, "private-key"),
]


@pytest.mark.trap(20)
@pytest.mark.parametrize(("text", "secret", "kind"), BY_SHAPE, ids=[kind for _, _, kind in BY_SHAPE])
def test_a_secret_is_known_by_its_shape(text, secret, kind):
    shown = redact(text)

    assert secret not in shown
    assert f"[redacted:{kind}]" in shown


def test_what_stands_around_a_private_key_stays():
    assert redact(f"before\n{PRIVATE_KEY}\nafter") == "before\n[redacted:private-key]\nafter"


BY_NAME = [
    "OPENAI_API_KEY=s3cr3t-value",
    "export DB_PASSWORD='s3cr3t-value'",
    'AWS_SECRET_ACCESS_KEY="s3cr3t-value"',
    '{"api_key": "s3cr3t-value", "model": "m"}',
    "{'password': 's3cr3t-value'}",
    '{"apiKey":"s3cr3t-value"}',
    '{"accessToken": "s3cr3t-value"}',
    "client_secret: s3cr3t-value",
    "token => 's3cr3t-value'",
    "https://example.org/?access_token=s3cr3t-value&x=1",
    "PASSWD = s3cr3t-value",
    "credentials: s3cr3t-value",
    "x-api-key: s3cr3t-value",
    "--api-key=s3cr3t-value",
    r'{"arguments": "{\"api_key\": \"s3cr3t-value\"}"}',
]


@pytest.mark.trap(20)
@pytest.mark.parametrize("text", BY_NAME)
def test_a_secret_is_known_by_the_name_in_front_of_it(text):
    shown = redact(text)

    assert "s3cr3t-value" not in shown
    assert "[redacted:named]" in shown


def test_a_quoted_secret_with_spaces_is_taken_out_whole():
    shown = redact('password = "correct horse, battery staple"')

    assert not any(word in shown for word in ("correct", "horse", "battery", "staple"))


@pytest.mark.parametrize("text", BY_NAME)
def test_the_name_of_a_secret_stays_readable(text):
    assert redact(text).split("s3cr3t")[0][:8] == text[:8]


HARMLESS = [
    "",
    "the model used 12345678 tokens",
    "max_tokens: 4096",
    '"max_tokens": 128000,',
    '{"completion_tokens": 1234567, "prompt_tokens": 7654321}',
    "token count: 1234567",
    "tokens=1234567",
    "password: str",
    "password: string",
    "api_key: None",
    "api_key=None,",
    "token = get_token()",
    "const token = await getToken();",
    "secret: v.string()",
    'api_key = os.environ["OPENAI_API_KEY"]',
    'api_key=os.getenv("OPENAI_API_KEY")',
    "password: Optional[str] = None",
    "OPENAI_API_KEY=$OPENAI_API_KEY",
    "OPENAI_API_KEY=${{ secrets.OPENAI_API_KEY }}",
    "token: process.env.TOKEN",
    "password = <your password>",
    "the secret of a good token is its password",
    "see https://example.org:8080/path@v2",
    "risk-averse task-force desk-lamp-with-a-very-long-name",
    "tokenIdentifier: identity.tokenIdentifier",
    "eyJ is how a JWT begins",
    "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
    "commit 3f8e5121fe7fdbcab99a03f8e5121fe7fdbcab99",
]


@given(st.text() | st.sampled_from([text for text, _, _ in BY_SHAPE] + BY_NAME))
@example("password=password=hunter22")
def test_redacting_twice_changes_nothing_more(text):
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "name", ["api_key", "OPENAI_API_KEY", "password", "x-api-key", "accessToken", "clientSecret", "db.password"]
)
def test_a_value_under_a_secret_name_is_redacted_in_a_tree(name):
    assert redact_tree({name: "s3cr3t-value"}) == {name: "[redacted:named]"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_tokens", "4096"), ("tokens", "1234567"), ("token_count", "many more"), ("api_key", ""), ("api_key", None)],
)
def test_a_value_under_a_harmless_name_stays_in_a_tree(name, value):
    assert redact_tree({name: value}) == {name: value}


def test_every_text_inside_dicts_and_lists_is_redacted():
    secret = f"ghp_{LETTERS[:36]}"

    shown = redact_tree({"a": [secret, {"b": (f"x {secret}", 1, None, True)}]})

    assert shown == {"a": ["[redacted:github-token]", {"b": ["x [redacted:github-token]", 1, None, True]}]}


@pytest.mark.parametrize(
    ("items", "shown"),
    [
        (["passed", "mixed", "passed"], ["passed", "mixed", "passed"]),
        ((1, None, 2.5), [1, None, 2.5]),
        (["passed", 1, None], ["passed", 1, None]),
        (["--token", "s3cr3t-value"], ["--token", "[redacted:named]"]),
        (["password", "hunter2hunter2"], ["password", "[redacted:named]"]),
        (["passed", "passed", "--password", "Tr0ub4dor-3"], ["passed", "passed", "--password", "[redacted:named]"]),
    ],
)
def test_a_list_of_words_stays_and_a_secret_among_words_does_not(items, shown):
    assert redact_tree(items) == shown
