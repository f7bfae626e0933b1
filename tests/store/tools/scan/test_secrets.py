"""What only looks like a secret is not reported: each text is of a public memory of an agent, its value changed."""

from support.tables import each

from store.tools.transcript_scan import find_sure_secrets


@each(
    "text",
    [
        "2. Identify top-5 high-ROI blocks; build next submissions",
        "- **Two-pass detection** — the second pass re-reads the rewrite",
        "WPA2-PSK: PBKDF2(password) = static PMK",
        "Plan de Vacaciones: la clave es `employee_id` y el empleado es ese",
        "no se dibuja, salvo `movil`; clave `acciones`/`actions`",
        "Added ADMIN_PASSWORD to `.env`",
        "I deleted the fixed-password `e2e-*` users after a run",
        "- Credentials: `C:/Users/Ana/.claude/skills/inbox/credentials.json` (OAuth installed-app client)",
        "Auth token: `~/.openclaw/workspace/config/google-oauth-token.json`",
        "- Token: `config/huggingface.json`",
        '"OPENAI_API_KEY": "sk-or-v1-твой-ключ",',
        '"apiKey": "ТВОЙ_API_KEY",',
        "export DISCORD_BOT_TOKEN='O_TOKEN_AQUI'",
        "pass = CONTRASENA_O_TOKEN_APLICACION",
        '"api_key": "kiwichat_xxx"',
        "- `ANTHROPIC_API_KEY=sk-ant-api03-kQzLbTRV...`",
        "- `ADMIN_PASSWORD=zN4K7RWMB-GuT...`",
        "DATABASE_URL='postgresql://postgres:password@localhost:5432/tides' npm run build",
        "DATABASE_URL | `postgresql://lighthouse:lighthouse@localhost:5432/lighthouse`",
        "- Public key: `pk_4d07f3196b852ec0a9e1d7c35f8b2`",
        '"sessionKey": "agent:main:telegram:direct:7719066384",',
        "| Private Haftpflichtversicherung | 8,00 |",
        "| IG token | `30418826551907734` |",
        "- `JWT_SECRET: 'ci-test-secret-that-is-at-least-32-characters-long'`",
        "https://go.example.org/claim?token=abcdef1234567890abcdef1234567890abcdef",
        '{"username": {"password": "plaintext", "role": "user"}}',
        "**Required Secret:** `NEXT_PUBLIC_APP_URL=https://[app-name].example.app`",
        "https://example.org/2026/05/20/xai-burned-6-4b-last-year-spacexs-ipo-filing-shows-why-the-spending-is-rising/",
        "6 个断言全部 PASS: 签名验证✅、篡改检测✅、高信任通过✅",
        'const apiKey = "sk-1234567890abcdefghij";',
        '"apiKey": "hello-world",',
        "updated the crontab with PATH and `GOG_KEYRING_PASSWORD=` plus local jobs: 05:00 triage, 06:45 mail `a795`",
        '"configKey": "7RkqdVfBzTgLYhWnK3JmXpUaEsQ9v2CtHw8bMxN4GyZo",',
        "- **Price JSON:** Currency-UUID Key `2e91b7c0d4f85a36e1c7094bd82f6a53`, no array",
        '"token": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlX29m",',
        "![a](https://storage.example.org/image.png?alt=media&#x26;token=3f0c1b52-7d4e-4a19-9b86-2e5d7c90af13)",
        "the agent token `b0c7d5e2-41f8-4c3a-92d6-7e1f5a80c9b4` still failed",
        'export DB_PASSWORD="op://app-prod/db/password"',
        "Token: `123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11`",
        "- **Token:** `dev-local-auth-token-0123456789-0123456789-01234567890123456789`",
        "- **Session Key**: agent:main:weixin:87f48d3a5105-im-bot:direct:o9cq809s5mwppkpt@im",
        "1. Enter Password: `test1234` (no uppercase)",
        'headers={"X-API-Key": "sk-gateway-demo-key-001"}',
        "it had a placeholder API key: `sk-or-v1-your-openrouter-key-here`",
        "- client_secret: 730164928517-qkzbnvwyhdsfrtaxlmcejupgoi5082ab",
        "with the GitHub API access under `lighthousecompanies`. He also received skills",
        'GITHUB_APP_PRIVATE_KEY="-----BEGIN RSA PRIVATE KEY-----\\n...\\n-----END RSA PRIVATE KEY-----"',
        "build `postgresql+asyncpg://DB_USERNAME:DB_PASSWORD@DB_HOST:DB_PORT/DB_NAME`",
    ],
)
def test_what_only_looks_like_a_secret(text: str) -> None:
    assert list(find_sure_secrets(text)) == []


@each(
    "text",
    [
        "- API密钥: sk_live_71b0c94e2f6a8d35017e9c42b6f81d0a5e37c9f4",
        "| **AppSecret** | `3c81f05e9d2746ab80c1e7f4592d6a0b` |",
        "- Login: admin@example.com / Adm1n-2345 (capital A)",
        "- Working with password `BarnacleDB2031Safe`",
        "node seed.js --server=https://example.social --password=Marmalade2031!!",
        "git push http://pilot:pilot417@localhost:3333/pilot/api",
        "postgresql://app:r4nd-Kv81@localhost:5432/app",
        "- AUTH_JWT_SECRET=90817263546271 (same across all)",
        "| Token | `1f93c0a7e25d48b6907fce3124a85db06e7f19c2d3b845a0916ce7d25f8b304a` |",
        "token: qWmRvt71LDBzkPSeXJhanfGUCowx2VyT，然后重启",
        "/msg NickServ IDENTIFY hunter2222",
        "la clave es `perritolindo`",
        "| **API Key** | `5e2f90c1-83b7-4d6a-9f04-c7a1e8d2b365` |",
        "tool --auth-type api_key --secret 9c41e7d0-52b8-4f3a-8e16-0d7b5fa2c943",
    ],
)
def test_what_is_one(text: str) -> None:
    assert len(list(find_sure_secrets(text))) == 1
