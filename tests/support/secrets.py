"""A secret of every family, and look-alikes, assembled at run time from a prefix that an issuer documents and a random
body that nobody issued. This file contains no secret."""

import base64
import itertools
import random
import string

BODY = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3k"
UPPER = "QX7T3NB9KD2WZ5RM"
PASSWORD = "tr0ub4dor" + "-and-3"

_drawn = random.Random(20260101)


def _draw(alphabet: str, length: int) -> str:
    """Draw so many characters; letters and digits alternate as often as in random text."""
    while True:
        text = "".join(_drawn.choice(alphabet) for _ in range(length))
        borders = sum(a.isdigit() != b.isdigit() for a, b in itertools.pairwise(text))
        if borders >= max(3, length // 6) or not any(map(str.isdigit, alphabet)):
            return text


def letters(length: int) -> str:
    return _draw(string.ascii_letters, length)


def word(length: int) -> str:
    return _draw(string.ascii_letters + string.digits, length)


def low(length: int) -> str:
    return _draw(string.ascii_lowercase + string.digits, length)


def high(length: int) -> str:
    return _draw(string.ascii_uppercase + string.digits, length)


def hexa(length: int) -> str:
    return _draw("0123456789abcdef", length)


def number(length: int) -> str:
    return str(_drawn.randrange(10 ** (length - 1), 10**length))


def uuid() -> str:
    return "-".join(map(hexa, (8, 4, 4, 4, 12)))


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


# label: (secrets that are redacted completely, look-alikes that are kept)
TOKENS: dict[str, tuple[list[str], list[str]]] = {
    "GITLAB_TOKEN": (
        [
            *("gl" + kind + "-" + word(20) for kind in "pat dt rt cbt ptt ft imt agent soat oas ffct".split()),
            "gl" + "pat-" + word(27) + ".01." + low(9),
            "GR134" + "8941" + word(20),
            "_gitlab" + "_session=" + hexa(32),
        ],
        ["gl" + "pat-" + word(12), "a_glpat-of-our-own-and-not-theirs".replace("-", "_")],
    ),
    "NPM_TOKEN": (["npm" + "_" + word(36)], ["npm_config_registry_and_all_the_rest_of_it", "npm_" + word(30)]),
    "PYPI_TOKEN": (["pypi" + "-AgEIcHlwaS5vcmc" + word(60)], ["pypi-AgE", "pypi-simple-index-of-packages"]),
    "RUBYGEMS_TOKEN": (["rubygems" + "_" + hexa(48)], ["rubygems_" + hexa(47)]),
    "CRATES_TOKEN": (["cio" + word(32)], ["cio" + "r" * 32]),
    "CLOJARS_TOKEN": (["CLOJARS" + "_" + hexa(60)], ["CLOJARS_" + hexa(20)]),
    "NUGET_KEY": (["oy2" + low(43)], ["oy2" + low(20)]),
    "DOCKER_TOKEN": (["dckr" + "_pat_" + word(27), "dckr" + "_oat_" + word(32)], ["dckr_pat_" + word(9)]),
    "ATLASSIAN_TOKEN": (["ATATT3" + "xFfGF0" + word(180)], ["ATATT3" + word(20)]),
    "BITBUCKET_TOKEN": (["ATBB" + word(32)], ["ATBB" + word(12)]),
    "AZURE_KEY": (
        [
            word(76) + "AZ" + "DO" + word(4),
            "q1w" + "8Q~" + word(34),
            word(52) + "JQQ" + "J9" + word(27),
            word(42) + "Az" + "Se" + "A" + word(5),
            word(44) + "Az" + "Fu" + word(5) + "Q==",
            word(76) + "+A" + "St" + word(6) + "==",
            word(33) + "+A" + "Eh" + word(6) + "=",
            word(42) + "+A" + "CR" + word(6),
        ],
        ["AccountKey=${KEY}", "q1w8Q~" + word(12)],
    ),
    "BUILDKITE_TOKEN": (["bkua" + "_" + hexa(40)], ["bkua_" + hexa(30)]),
    "CIRCLECI_TOKEN": (["CCIPAT" + "_" + word(22) + "_" + hexa(40)], ["CCIPAT_" + word(22)]),
    "SONAR_TOKEN": (["squ" + "_" + hexa(40), "sqp" + "_" + hexa(40)], ["squ_" + hexa(30)]),
    "SOURCEGRAPH_TOKEN": (
        [
            "sgp" + "_" + hexa(40),
            "sgp" + "_local_" + hexa(40),
            "sgp" + "_" + hexa(16).upper() + "_" + hexa(40),
            "slk" + "_" + hexa(64),
        ],
        ["sgp_" + hexa(39)],
    ),
    "SNYK_TOKEN": (["snyk" + "_uat." + hexa(8) + "." + word(60)], ["snyk_uat." + hexa(8)]),
    "ARTIFACTORY_KEY": (["AKCp" + word(69), "cmVmdGtu" + word(56)], ["AKCp" + word(30)[:6]]),
    "OCTOPUS_KEY": (["API-" + high(26)], ["API-REFERENCE-AND-THE-REST-OF-IT"]),
    "POSTMAN_KEY": (["PMAK" + "-" + hexa(24) + "-" + hexa(34)], ["PMAK-" + hexa(24)]),
    "PULUMI_TOKEN": (["pul" + "-" + hexa(40)], ["pul-" + hexa(20)]),
    "DOPPLER_TOKEN": (["dp" + ".pt." + word(43), "dp" + ".st.dev." + word(40)], ["dp.pt." + word(20)]),
    "LINEAR_KEY": (["lin" + "_api_" + word(40), "lin" + "_oauth_" + hexa(64)], ["lin_api_" + word(12)]),
    "SHORTCUT_TOKEN": (["sct" + "_rw_team_" + uuid()], ["sct_rw_team"]),
    "README_KEY": (["rdme" + "_" + low(70)], ["rdme_" + low(50)]),
    "TERRAFORM_TOKEN": ([word(14) + ".atlas" + "v1." + word(67)], [word(14) + ".atlasv1." + word(20)]),
    "VAULT_TOKEN": (["hvs" + "." + word(90), "hvb" + "." + word(138)], ["hvs." + word(12)]),
    "ONEPASSWORD_TOKEN": (["ops" + "_eyJ" + word(250)], ["ops_eyJ" + word(30)]),
    "ONEPASSWORD_KEY": (["A3-" + "-".join(map(high, (6, 6, 5, 5, 5, 5)))], ["A3-" + high(6) + "-" + high(6)]),
    "AGE_KEY": (
        ["AGE-SECRET" + "-KEY-1" + _draw("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)],
        ["AGE-SECRET-KEY-1" + "Q" * 20],
    ),
    "TAILSCALE_KEY": (["tskey" + "-auth-" + word(12) + "-" + word(32)], ["tskey-auth-k"]),
    "INFRACOST_KEY": (["ico-" + word(32)], ["ico-" + letters(32), "ico-" + word(12)]),
    "NEBULA_KEY": (["dnkey" + "-" + high(26) + "-" + high(52)], ["dnkey-" + high(26)[:16]]),
    "HARNESS_KEY": (["pat." + word(22) + "." + hexa(24) + "." + word(20)], ["pat." + word(22)]),
    "AUTHRESS_KEY": (["sc_" + low(10) + "." + low(4) + ".acc_" + low(10) + "." + word(44)], ["sc_" + low(10) + ".acc"]),
    "INNGEST_KEY": (["signkey" + "-prod-" + hexa(64)], ["signkey-prod-" + hexa(20)[:16]]),
    "LICHESS_TOKEN": (["lip" + "_" + word(20)], ["lip_" + letters(20), "lip_" + word(9)]),
    "AWS_SESSION_TOKEN": (
        ["IQoJb3Jp" + "Z2lu" + word(300), "FwoG" + "ZXIvYXdz" + word(300) + "=="],
        ["IQoJb3JpZ2lu" + word(20)],
    ),
    "AWS_MWS_TOKEN": (["amzn" + ".mws." + uuid()], ["amzn.mws." + hexa(8)]),
    "AMAZON_LOGIN_SECRET": (["amzn1" + ".oa2-cs.v1." + hexa(64)], ["amzn1.oa2-cs.v1." + hexa(20)]),
    "APPSYNC_KEY": (["da2" + "-" + low(26)], ["da2-" + low(12)]),
    "RUNPOD_KEY": (["rpa" + "_" + high(46)], ["rpa_" + high(12)]),
    "LOB_KEY": (["live" + "_" + hexa(35), "test" + "_pub_" + hexa(31)], ["live_" + hexa(20)]),
    "GOCARDLESS_TOKEN": (
        ["live" + "_" + word(40), "sandbox" + "_" + word(40)],
        ["live_" + "update_of_the_house_and_of_the_garden_too"],
    ),
    "CLICKUP_TOKEN": (["pk" + "_" + number(8) + "_" + high(32)], ["pk_" + number(8)]),
    "STYTCH_SECRET": (["secret" + "-live-" + word(36) + "="], ["secret-live-" + word(9)]),
    "CALCOM_KEY": (["cal" + "_live_" + hexa(32)], ["cal_live_" + hexa(9)]),
    "AWS_BEDROCK_KEY": (["ABSK" + word(128), "bedrock" + "-api-key-" + word(80)], ["ABSK" + word(40)]),
    "GOOGLE_OAUTH_SECRET": (["GOCSPX" + "-" + word(28)], ["GOCSPX-" + word(12)]),
    "GOOGLE_OAUTH_TOKEN": (["ya29" + ".a0" + word(120), "1//0" + word(100)], ["ya29.a0" + word(9), "1//0" + word(20)]),
    "FIREBASE_KEY": (["AAAA" + word(7) + ":APA" + "91" + word(134)], ["AAAA" + word(7) + ":APA91" + word(20)]),
    "DIGITALOCEAN_TOKEN": (["do" + kind + "_v1_" + hexa(64) for kind in "opr"], ["dop_v1_" + hexa(32)]),
    "ALIBABA_KEY": (["LTAI" + word(20)], ["LTAI" + word(9), "LTAI" + "n" * 20]),
    "TENCENT_KEY": (["AKID" + word(32)], ["AKID" + word(20)]),
    "YANDEX_KEY": (["AQVN" + word(36), "YCA" + word(22)], ["AQVN" + word(12)]),
    "YANDEX_TOKEN": (["t1." + word(60) + "." + word(86)], ["t1." + word(60)]),
    "CLOUDFLARE_KEY": (["v1.0-" + hexa(24) + "-" + hexa(146)], ["v1.0-" + hexa(24)]),
    "HEROKU_KEY": (["HRKU" + "-" + uuid(), "HRKU" + "-AA" + word(58)], ["HRKU-" + word(12)]),
    "FLY_TOKEN": (["fo1" + "_" + word(43), "fm2" + "_" + word(200)], ["fo1_" + word(20)]),
    "RENDER_KEY": (["rnd" + "_" + word(32)], ["rnd_" + word(12)]),
    "NETLIFY_TOKEN": (["nfp" + "_" + word(36)], ["nfp_" + word(20)]),
    "VERCEL_TOKEN": (["vcp" + "_" + word(56), "vercel" + "_blob_rw_" + word(16) + "_" + word(30)], ["vcp_" + word(12)]),
    "DATABRICKS_TOKEN": (["dapi" + hexa(32), "dapi" + hexa(32) + "-2"], ["dapi" + hexa(20)]),
    "PLANETSCALE_TOKEN": (["pscale" + "_tkn_" + word(43)], ["pscale_tkn_" + word(12)]),
    "SUPABASE_KEY": (["sbp" + "_" + hexa(40), "sb" + "_secret_" + word(31)], ["sbp_" + hexa(20)]),
    "NEON_KEY": (["napi" + "_" + low(64)], ["napi_" + low(30)]),
    "COCKROACH_KEY": (["CCDB1" + "_" + word(22) + "_" + word(40)], ["CCDB1_" + word(22)]),
    "ASTRA_TOKEN": (["Astra" + "CS:" + letters(24) + ":" + hexa(64)], ["AstraCS:" + letters(24)]),
    "CLICKHOUSE_KEY": (["4b1d" + word(38)], ["4b1d" + word(20)]),
    "MONGODB_KEY": (["mdb" + "_sa_sk_" + word(40)], ["mdb_sa_sk_" + word(20)]),
    "CONFLUENT_KEY": (["cflt" + word(60)], ["cflt" + word(20)]),
    "DBT_TOKEN": (["dbtc" + "_" + word(40)], ["dbtc_" + word(12)]),
    "PREFECT_KEY": (["pnu" + "_" + word(36)], ["pnu_" + "X" * 36, "pnu_" + word(20)]),
    "SCALINGO_TOKEN": (["tk-" + "us-" + word(48)], ["tk-us-" + word(20)]),
    "OPENSHIFT_TOKEN": (["sha256" + "~" + word(43)], ["sha256:" + hexa(64)]),
    "GRAFANA_TOKEN": (
        ["glc" + "_" + word(60), "glsa" + "_" + word(32) + "_" + hexa(8), "eyJrI" + "joi" + word(80)],
        ["glc_" + word(20), "glsa_" + word(32)],
    ),
    "NEWRELIC_KEY": (["NRAK" + "-" + high(27), "NRII" + "-" + word(32), hexa(36) + "NR" + "AL"], ["NRAK-" + high(9)]),
    "SENTRY_TOKEN": (["sntrys" + "_eyJ" + word(140), "sntryu" + "_" + hexa(64)], ["sntryu_" + hexa(30)]),
    "DYNATRACE_TOKEN": (["dt0" + "c01." + high(24) + "." + high(64)], ["dt0c01." + high(24)]),
    "HONEYCOMB_KEY": (["hcaik" + "_" + low(58)], ["hcaik_" + low(12)]),
    "AXIOM_TOKEN": (["xaat" + "-" + uuid()], ["xaat-" + hexa(8)]),
    "POSTHOG_KEY": (["phx" + "_" + word(43)], ["phc_" + word(43)]),
    "LAUNCHDARKLY_KEY": (["sdk-" + uuid(), "api-" + uuid()], ["sdk-" + hexa(8), "sub-" + uuid()]),
    "RAPIDAPI_KEY": ([low(10) + "msh" + low(15) + "p1" + low(5) + "jsn" + low(12)], ["msh" + low(30)]),
    "MAXMIND_KEY": ([word(6) + "_" + word(29) + "_m" + "mk"], [word(6) + "_mmk"]),
    "ADOBE_SECRET": (["p8e" + "-" + low(32)], ["p8e-" + low(12)]),
    "FIGMA_TOKEN": (["figd" + "_" + word(40)], ["figd_" + word(12)]),
    "FRAMEIO_TOKEN": (["fio" + "-u-" + word(64)], ["fio-u-" + word(20)]),
    "CONTENTFUL_TOKEN": (["CFPAT" + "-" + word(43)], ["CFPAT-" + word(20)]),
    "HUGGINGFACE_TOKEN": (
        ["hf" + "_" + letters(34), "api" + "_org_" + letters(34)],
        ["hf_requiredCharacteristicTypesForTheDisplay", "hf_" + letters(20)],
    ),
    "GROQ_KEY": (["gsk" + "_" + word(52)], ["gsk_" + word(20)]),
    "PERPLEXITY_KEY": (["pplx" + "-" + word(48)], ["pplx-" + word(20)]),
    "XAI_KEY": (["xai" + "-" + word(80)], ["xai-" + word(20)]),
    "REPLICATE_TOKEN": (["r8" + "_" + word(37)], ["r8_" + word(20)]),
    "NVIDIA_KEY": (["nvapi" + "-" + word(64)], ["nvapi-" + word(20)]),
    "ELEVENLABS_KEY": (["sk" + "_" + hexa(48)], ["sk_" + hexa(30)]),
    "LANGCHAIN_KEY": (["lsv2" + "_pt_" + hexa(32) + "_" + hexa(10), "ls_" + "_" + hexa(32)], ["lsv2_pt_" + hexa(12)]),
    "PINECONE_KEY": (["pcsk" + "_" + word(6) + "_" + word(60)], ["pcsk_" + word(12)]),
    "TAVILY_KEY": (["tvly" + "-" + word(32), "tvly" + "-dev-" + word(32)], ["tvly-" + word(12)]),
    "FIRECRAWL_KEY": (["fc" + "-" + hexa(32)], ["fc-" + hexa(20)]),
    "E2B_KEY": (["e2b" + "_" + hexa(40)], ["e2b_" + hexa(20)]),
    "JINA_KEY": (["jina" + "_" + word(60)], ["jina_" + word(20)]),
    "VOYAGE_KEY": (["pa" + "-" + word(43)], ["pa-of-something-that-is-as-long-as-a-key-there"]),
    "CEREBRAS_KEY": (["csk" + "-" + low(48)], ["csk-" + low(20)]),
    "TOGETHER_KEY": (["tgp" + "_v1_" + word(43)], ["tgp_v1_" + word(20)]),
    "FIREWORKS_KEY": (["fw" + "_" + word(24)], ["fw_" + "update" * 4]),
    "ANYSCALE_KEY": (["esecret" + "_" + low(26)], ["esecret_" + low(9)]),
    "WANDB_KEY": (["wandb" + "_v1_" + word(40)], ["wandb_v1_" + word(20)]),
    "STRIPE_KEY": (
        [*(kind + "_live_" + word(24) for kind in ("sk", "rk")), "sk" + "_test_" + word(99)],
        ["pk_live_" + word(24), "task_test_" + word(24), "sk_live_" + word(5)],
    ),
    "STRIPE_WEBHOOK_SECRET": (["whsec" + "_" + word(32)], ["whsec_" + word(12)]),
    "SQUARE_TOKEN": (["sq0" + "atp-" + word(22), "sq0" + "csp-" + word(43), "EAAA" + word(60)], ["sq0atp-" + word(12)]),
    "FACEBOOK_TOKEN": (
        ["EAAC" + word(160), number(16) + "|" + word(27)],
        ["EAAC" + word(20), number(16) + "|" + word(9)],
    ),
    "SHOPIFY_TOKEN": (["shp" + kind + "_" + hexa(32) for kind in ("at", "ca", "pa", "ss")], ["shpat_" + hexa(20)]),
    "MAILCHIMP_KEY": ([hexa(32) + "-us" + "12"], [hexa(31) + "-us12", hexa(32) + "-use"]),
    "MANDRILL_KEY": (["md" + "-" + word(22)], ["md-of-a-readme-and-more-x"]),
    "MAILGUN_KEY": (["key" + "-" + hexa(32), "pubkey" + "-" + hexa(32)], ["key-value-store-of-the-whole-house-x"]),
    "MAILERSEND_KEY": (["mlsn" + "." + hexa(64)], ["mlsn." + hexa(20)]),
    "BREVO_KEY": (["xkeysib" + "-" + hexa(64) + "-" + word(16)], ["xkeysib-" + hexa(64)]),
    "RESEND_KEY": (["re" + "_" + word(8) + "_" + word(24)], ["re_exported_symbols_of_the_module_x1"]),
    "TWILIO_KEY": (["SK" + hexa(32)], ["SK" + hexa(31), "DISK" + hexa(32)]),
    "NOTION_TOKEN": (["ntn" + "_" + word(46), "secret" + "_" + word(43)], ["ntn_" + word(12)]),
    "AIRTABLE_TOKEN": (["pat" + word(14) + "." + hexa(64)], ["pat" + word(14)]),
    "HUBSPOT_TOKEN": (["pat-" + "na1-" + uuid()], ["pat-na1-" + hexa(8)]),
    "ASANA_TOKEN": (["1/" + number(16) + ":" + hexa(32)], ["1/" + number(16) + ":" + hexa(20)]),
    "TRELLO_TOKEN": (["ATTA" + hexa(64)], ["ATTA" + hexa(20)]),
    "INTERCOM_TOKEN": (["dG9rO" + word(55)], ["dG9rO" + word(20)]),
    "SALESFORCE_TOKEN": (["00D" + word(12) + "!" + word(96)], ["00D" + word(12) + "!" + word(20)]),
    "SEGMENT_TOKEN": (["sgp" + "_" + word(64)], ["sgp_" + word(30)]),
    "TYPEFORM_TOKEN": (["tfp" + "_" + word(44)], ["tfp_" + word(20)]),
    "DROPBOX_TOKEN": (
        ["sl" + ".u." + word(140), low(11) + "A" * 10 + word(43)],
        ["sl.u." + word(20), low(11) + "A" * 53],
    ),
    "MAPBOX_TOKEN": (["sk" + ".eyJ" + word(80) + "." + word(22)], ["pk.eyJ" + word(80)]),
    "SHIPPO_TOKEN": (["shippo" + "_live_" + hexa(40)], ["shippo_live_" + hexa(20)]),
    "EASYPOST_KEY": (["EZAK" + word(54)], ["EZAK" + word(20)]),
    "DUFFEL_TOKEN": (["duffel" + "_live_" + word(43)], ["duffel_live_" + word(20)]),
    "FLUTTERWAVE_KEY": (["FLWSECK" + "_TEST-" + hexa(32) + "-X"], ["FLWSECK_TEST-"]),
    "PLAID_TOKEN": (["access-" + "sandbox-" + uuid()], ["access-sandbox-of-the-house"]),
    "BRAINTREE_TOKEN": (["access" + "_token$production$" + low(16) + "$" + hexa(32)], ["access_token$production$"]),
    "MERCADOPAGO_TOKEN": (
        ["APP" + "_USR-" + number(16) + "-" + number(6) + "-" + hexa(32) + "-" + number(9)],
        ["APP_USR-1"],
    ),
    "ADYEN_KEY": (["AQE" + word(150)], ["AQE" + word(50)]),
    "PADDLE_KEY": (["pdl" + "_live_apikey_" + word(26) + "_" + word(22)], ["pdl_live_apikey_" + word(9)]),
    "POLAR_TOKEN": (["polar" + "_oat_" + word(43)], ["polar_coordinates_of_the_whole_lattice_there"]),
    "RAZORPAY_KEY": (["rzp" + "_live_" + word(14)], ["rzp_live_" + word(5)]),
    "TWITTER_TOKEN": (["A" * 22 + word(86)], ["A" * 30]),
    "OKTA_TOKEN": (["00" + "a" + word(39)], ["00" + number(40), "lexer.py,sha256=-00" + "a" + word(39) + ",120"]),
    "DISCORD_TOKEN": (["MTE4" + word(22) + "." + word(6) + "." + word(38)], ["MTE4" + word(22) + "." + word(6)]),
    "BITWARDEN_KEY": (["0." + uuid() + "." + word(30) + ":" + word(22) + "=="], ["0." + uuid()]),
    "INTRA42_SECRET": (["s-" + "s4t2ud-" + hexa(64)], ["s-s4t2ud-" + hexa(20)]),
    "ROOTLY_KEY": (["rootly" + "_" + hexa(64)], ["rootly_" + hexa(20)]),
    "STATSIG_KEY": (["secret" + "-" + word(43)], ["secret-of-the-house-and-of-all-who-live-there-too"]),
    "APIFY_TOKEN": (["apify" + "_api_" + word(36)], ["apify_api_" + word(20)]),
    "DENO_TOKEN": (["ddp" + "_" + word(36)], ["ddp_" + word(20)]),
    "CLOUDINARY_URL": (["cloudinary" + "://" + number(15) + ":" + word(27) + "@house"], ["cloudinary://name"]),
    "TELEGRAM_TOKEN": (
        [number(10) + ":A" + "A" + word(33), "bot" + number(9) + ":A" + "A" + word(33)],
        [number(10) + ":AA"],
    ),
    "ADAFRUIT_KEY": (["aio" + "_" + word(28)], ["aio_" + word(12)]),
    "AIVEN_PASSWORD": (["AVNS" + "_" + word(19)], ["AVNS_" + word(9)]),
    "AKAMAI_KEY": (["akab" + "-" + low(16) + "-" + low(16)], ["akab-" + low(16)]),
    "ALCHEMY_KEY": (["alcht" + "_" + word(30)], ["alcht_" + word(12)]),
    "BAIDU_KEY": (["bce-v3" + "/ALTAK-" + word(21) + "/" + hexa(40)], ["bce-v3/ALTAK-" + word(21)]),
    "BLOCKFROST_KEY": (["mainnet" + word(32)], ["mainnet" + letters(32), "mainnet" + word(12)]),
    "BRAVE_KEY": (["BSA" + word(28)], ["BSA" + letters(28)]),
    "BROWSERBASE_KEY": (["bb" + "_live_" + word(27)], ["bb_live_" + word(9)]),
    "CARTESIA_KEY": (["sk_car" + "_" + word(22)], ["sk_car_" + word(9)]),
    "CHECKOUT_KEY": (["sk_sbox" + "_" + low(27)], ["sk_sbox_" + low(9)]),
    "CHROMA_KEY": (["ck" + "-" + word(44)], ["ck-" + word(20)]),
    "CHROMATIC_TOKEN": (["chpt" + "_" + low(15)], ["chpt_" + "of-the-house"]),
    "COURIER_KEY": (["pk" + "_prod_" + high(28)], ["pk_prod_" + high(9)]),
    "ELASTIC_KEY": (["essu" + "_" + word(60) + "=="], ["essu_" + word(20)]),
    "ENDORLABS_KEY": (["endr" + "+" + word(16)], ["endr+" + word(9)]),
    "EXOSCALE_KEY": (["EXO" + hexa(24)], ["EXO" + hexa(12)]),
    "FAUNA_KEY": (["fnA" + "E" + word(38)], ["fnA" + word(12)]),
    "FLEETBASE_KEY": (["flb" + "_live_" + word(20)], ["flb_live_" + word(9)]),
    "FLICKR_TOKEN": (["7215" + number(13) + "-" + hexa(16)], ["7215" + number(13) + "-" + hexa(9)]),
    "GITBOOK_TOKEN": (["gb" + "_api_" + word(40)], ["gb_api_" + word(9)]),
    "FULLSTORY_KEY": (["na1" + "." + word(88), "eu1" + "." + word(120)], ["na1." + word(40), "na1.example.org"]),
    "HELICONE_KEY": (["sk" + "-helicone-" + word(24)], ["sk-helicone-" + word(9)]),
    "HONEYBADGER_KEY": (["hbp" + "_" + word(36)], ["hbp_" + word(12)]),
    "HUMANLOOP_KEY": (["hl_sk" + "_" + low(48)], ["hl_sk_" + low(12)]),
    "IBM_KEY": (["ApiKey" + "-" + uuid()], ["ApiKey-" + hexa(8)]),
    "IMAGEKIT_KEY": (["private" + "_" + word(27) + "="], ["private_" + letters(27)]),
    "INFISICAL_TOKEN": (["st" + "." + uuid() + "." + hexa(32)], ["st." + uuid()]),
    "IONIC_TOKEN": (["ion" + "_" + word(42)], ["ion_" + word(20)]),
    "JENKINS_TOKEN": (["11" + hexa(32)], ["11" + hexa(20)]),
    "KLAVIYO_KEY": (["pk" + "_" + hexa(34)], ["pk_" + hexa(20)]),
    "LLAMA_KEY": (["LLM" + "|" + number(16) + "|" + word(27)], ["LLM|" + number(16)]),
    "LLAMAINDEX_KEY": (["llx" + "-" + word(48)], ["llx-" + word(12)]),
    "LUMA_KEY": (["luma" + "-" + uuid() + "-" + uuid()], ["luma-" + hexa(8)]),
    "MATERIALIZE_PASSWORD": (["mzp" + "_" + hexa(64)], ["mzp_" + hexa(20)]),
    "MEM0_KEY": (["m0" + "-" + word(40)], ["m0-" + word(20)]),
    "MIDTRANS_KEY": (["Mid" + "-server-" + word(24)], ["Mid-server-" + word(9)]),
    "MINTLIFY_KEY": (["mint" + "_" + word(24)], ["mint_" + letters(24)]),
    "MODAL_TOKEN": (["ak" + "-" + word(22), "as" + "-" + word(22)], ["ak-" + letters(22)]),
    "MOLLIE_KEY": (["live" + "_" + word(30)], ["live_" + letters(30)]),
    "NEON_PASSWORD": (["npg" + "_" + word(12)], ["npg_" + word(5)]),
    "ONFIDO_TOKEN": (["api" + "_live." + word(11) + "." + word(32)], ["api_live." + word(11)]),
    "ORY_TOKEN": (["ory" + "_pat_" + word(32)], ["ory_pat_" + word(9)]),
    "PAGARME_KEY": (["ak" + "_live_" + word(30)], ["ak_live_" + word(9)]),
    "PACKAGIST_TOKEN": (["packagist" + "_uut_" + hexa(68)], ["packagist_uut_" + hexa(20)]),
    "PERCY_TOKEN": (["web" + "_" + hexa(64)], ["web_" + hexa(20)]),
    "PERSONA_KEY": (["persona" + "_sandbox_" + uuid()], ["persona_sandbox_" + hexa(8)]),
    "PINTEREST_TOKEN": (["pina" + "_" + word(60)], ["pina_" + word(12)]),
    "PUBNUB_SECRET": (["sec" + "-c-" + word(48)], ["sec-c-" + word(12)]),
    "RAMP_SECRET": (["ramp" + "_sec_" + word(48)], ["ramp_sec_" + word(12)]),
    "RECHARGE_KEY": (["sk" + "_1x2_" + hexa(64)], ["sk_1x2_" + hexa(20)]),
    "RETOOL_TOKEN": (["retool" + "_01" + low(28)], ["retool_01" + low(9)]),
    "RUNWAY_KEY": (["key" + "_" + hexa(128)], ["key_" + hexa(12)]),
    "SAMSARA_TOKEN": (["samsara" + "_api_" + word(30)], ["samsara_api_" + word(12)]),
    "SCALEWAY_KEY": (["SCW" + high(17)], ["SCW" + high(9)]),
    "SETTLEMINT_TOKEN": (["sm" + "_pat_" + word(16)], ["sm_pat_" + word(9)]),
    "SOCKET_KEY": (["sktsec" + "_" + word(44)], ["sktsec_" + word(12)]),
    "SVIX_KEY": (["testsk" + "_" + word(32) + ".us"], ["testsk_" + word(32)]),
    "TATUM_KEY": (["t" + "-" + hexa(24) + "-" + hexa(24)], ["t-" + hexa(24)]),
    "THUNDERSTORE_TOKEN": (["tss" + "_" + word(36)], ["tss_" + word(12)]),
    "TIKTOK_TOKEN": (["act" + "." + word(60)], ["act." + word(20)]),
    "TINYBIRD_TOKEN": (["p" + ".eyJ" + word(60) + "." + word(40)], ["p.eyJ" + word(12)]),
    "TRIGGER_KEY": (["tr" + "_prod_" + word(20)], ["tr_prod_" + word(9)]),
    "TWITCH_TOKEN": (["oauth" + ":" + low(30)], ["oauth:" + low(12)]),
    "UBIDOTS_TOKEN": (["BBFF" + "-" + word(30)], ["BBFF-" + word(12)]),
    "UNKEY_KEY": (["unkey" + "_" + word(22)], ["unkey_" + letters(22)]),
    "UPCLOUD_TOKEN": (["ucat" + "_" + high(26)], ["ucat_" + high(12)]),
    "VALTOWN_TOKEN": (["vtwn" + "_" + word(28)], ["vtwn_" + word(9)]),
    "VOICEFLOW_KEY": (["VF" + ".DM." + hexa(24) + "." + word(16)], ["VF.DM." + hexa(24)]),
    "VOLCENGINE_KEY": (["AKLT" + word(44)], ["AKLT" + word(20)]),
    "XATA_KEY": (["xau" + "_" + word(36)], ["xau_" + word(12)]),
    "ZOHO_TOKEN": (["1000" + "." + hexa(32) + "." + hexa(32)], ["1000." + hexa(32)]),
    "ZUPLO_KEY": (["zpka" + "_" + word(32) + "_" + hexa(8)], ["zpka_" + word(32)]),
}

# label: (texts with {} in place of the secret, secrets, texts that are kept)
CONTEXTS: dict[str, tuple[list[str], list[str], list[str]]] = {
    "AWS_SECRET": (
        ["aws_secret_access_key = {}", 'AWS_SECRET_ACCESS_KEY="{}"', '"SecretAccessKey": "{}"', "secretKey: '{}',"],
        [word(40), word(20) + "/" + word(19)],
        ["aws_secret_access_key = ${AWS_SECRET}", "secret_key = the_name_of_the_column_that_holds_the_key"],
    ),
    "AWS_SESSION_TOKEN": (
        ["aws_session_token = {}", '"SessionToken": "{}"', "X-Amz-Security-Token: {}"],
        [word(300), word(320) + "=="],
        ["session_token = " + "read_it_from_the_environment"],
    ),
    "AZURE_KEY": (
        ["AccountName=house;AccountKey={};EndpointSuffix=x", "SharedAccessKeyName=root;SharedAccessKey={}"],
        [word(86) + "==", word(43) + "="],
        ["AccountKey=<your key>", "AccountKey=" + "x" * 86],
    ),
    "AZURE_SAS": (["https://house.blob.core.windows.net/c?sv=2024&sig={}&se=2026"], [word(43) + "%3D"], ["?sig=short"]),
    "AUTHORIZATION_HEADER": (
        [
            "Authorization: Bearer {}",
            'headers = {{"authorization": "bearer {}"}}',
            "curl -H 'Authorization: token {}' https://x",
            "authorization: {}",
        ],
        [word(32), hexa(40), word(24) + "=="],
        ["Authorization: Bearer <token>", "Authorization: Bearer ${TOKEN}", "a bearer of bad news, and of good ones"],
    ),
    "DOCKER_AUTH": (
        ['{{"auths": {{"https://x": {{"auth": "{}"}}}}}}'],
        ["dXNlcjpz" + "M2NyZXQtcGFzcw=="],
        ['"auth": "required"'],
    ),
    "NETRC_PASSWORD": (
        [
            "machine house.example login ada password {}",
            "machine h\n  login ada\n  password {}\n",
            "default login a password {}",
        ],
        [PASSWORD, word(12)],
        ["machine house login ada password ${PW}", "the machine of a password is slow"],
    ),
    "CURL_USER": (
        ["curl -u {} https://x", "curl -sS --user {} https://x", 'curl -X POST -u "{}" x'],
        ["ada:" + PASSWORD, "admin:" + word(20)],
        ["curl -u $USER:$PASS x", "curl -u user:password x", "curl -u <user>:<password> x", "curl -u ada x"],
    ),
    "URL_CREDENTIALS": (
        ["https://{}@house.example/x", "ftp://{}@10.0.0.1", 'proxy "http://{}@proxy:3128"'],
        ["ada:" + PASSWORD, word(20) + ":x-oauth-basic"],
        ["https://user:password@host", "https://host:8080/a@b", "https://$U:$P@h", "https://ada@house.example/x"],
    ),
    "CONNECTION_PASSWORD": (
        ["Server=db;User Id=ada;Password={};Timeout=3", "'Uid=ada; Pwd={};'", "Server=db;Password={}"],
        [PASSWORD, "s3cret"],
        ["Server=db;Password=${PW};", "Server=db;Password=<password>;", "if password=x; then"],
    ),
    "PGPASS_PASSWORD": (
        ["db.house:5432:main:ada:{}", "*:*:*:ada:{}\n"],
        [PASSWORD, "s3cret"],
        ["db.house:5432:main:ada:${PW}", "at 10:5432:2 the rest"],
    ),
    "NPM_AUTH": (
        ["_auth={}", '//registry.house/:_auth = "{}"', "//registry.house/:_password={}"],
        ["dXNlcjpz" + "M2NyZXQtcGFzcw=="],
        ["_auth=required", "always-auth = true"],
    ),
    "BUNDLER_CREDENTIALS": (
        ["BUNDLE_GEMS__HOUSE__COM={}", 'BUNDLE_GEMS__HOUSE__COM: "{}"'],
        [hexa(8) + ":" + hexa(8), "ada:" + PASSWORD],
        ["BUNDLE_GEMS__HOUSE__COM=https://gems.house", "BUNDLE_PATH__SYSTEM=true"],
    ),
    "SESSION_COOKIE": (
        ["Cookie: {}", 'headers={{"cookie": "{}"}}', "Set-Cookie: {}, then"],
        ["sessionid=" + word(32), "a=bcdefghi; sid=" + word(26) + "; theme=dark"],
        ["Cookie: theme=dark-and-quiet", "the cookie: a small file"],
    ),
    "KUBERNETES_SECRET": (
        ["kind: Secret\ndata:\n  {}\nmetadata:\n", "apiVersion: v1\nstringData:\n  {}\nkind: Secret\n"],
        ["pw: aHVudGVyMg==", "user: YWRh\n  pw: aHVudGVyMg=="],
        ["kind: ConfigMap\ndata:\n  pw: plain-text\n", "kind: Secret\ndata:\n  pw: {{ .Values.pw }}\n"],
    ),
    "LOGIN_PASSWORD": (
        [
            "username = ada\npassword = {}\n",
            "[mail]\nuser: ada\n# nobody else knows it\n  smtp_password: {}",
        ],
        [PASSWORD, "open_sesame"],
        ["user = form.user\npassword = form.password\n", "user: x\npassword: changeme\n", "user: x\npassword: ${PW}\n"],
    ),
    "LOGIN_PASSWORD 2": (
        [
            "password: {}\nhost: house",
            "  db.password={}",
            "- DB_PASSWORD={}",
            "The wifi password: {}",
            "export MYSQL_PWD={}  # until Friday",
            "PGPASSWORD={} psql -h db.house main",
            'new NetworkCredential("ada", "{}");',
            "HttpBasicAuth? no: PasswordAuthentication('ada', '{}')",
            'requests.get(url, auth=("ada", "{}"))',
            "server.login('ada@house.example', '{}')",
            'DriverManager.getConnection("jdbc:h2:mem", "ada", "{}")',
        ],
        ["hunter22", "Summer!2026"],
        [
            "password: required\n",
            "password = form2_password\n",
            "password = user.password2\n",
            "password: str = field2\n",
            "server.login('ada', 'password')",
            "class Login:\n    password: SecretStr\n",
        ],
    ),
    "COMMAND_PASSWORD": (
        ["sshpass -p {} ssh ada@house", "mysql -u ada -p{} main", "docker login -u ada -p '{}' registry.example"],
        [PASSWORD, "hunter2hunter2"],
        [
            "mysql -P 33061 -h house",
            "--password PASSWORD",
            "--password-file /run/secrets/pw",
            "--password=$PW",
            "--pass-through-args",
            "mysql -u ada -p main",
            "sshpass -p $PW ssh x",
            "docker login -u ada --password-stdin",
        ],
    ),
    "COMMAND_PASSWORD 2": (
        [
            "tool --password {} --quiet",
            "tool --db-password={}",
            "keytool -storepass {} -list",
            "openssl rsa -passin pass:{} -in key",
            'ConvertTo-SecureString "{}" -AsPlainText -Force',
            "ldapsearch -x -D cn=ada -w {} -b dc=house",
            "redis-cli -h house -a {}",
        ],
        [PASSWORD, "Summer!2026"],
        ["the --password option", "redis-cli -h house -a $PW", 'ConvertTo-SecureString "$pw" -AsPlainText'],
    ),
    "URL_CREDENTIALS 2": (
        ["jdbc:mysql://db/main?user=ada&password={}&ssl=true", "postgres://db/main?password={}"],
        [PASSWORD, "hunter22"],
        ["https://house/?password=${PW}", "https://house/?password=changeme"],
    ),
    "SPOKEN_PASSWORD": (
        [
            "the password for the printer is '{}'",
            "La contraseña es {}",
            "password '{}'",
            "the wifi password is {}",
            'The password for user "ada" is "{}".',
        ],
        [PASSWORD, "Secret123"],
        [
            "the password is stored by the browser",
            "a password is 256-bit",
            "the password is '%s'",
            "la contraseña es larga",
        ],
    ),
    "PASSWORD_HASH": (
        ["root:{}:19000:0", "hash {}"],
        ["$2" + "b$12$" + word(53), "$" + "6$" + word(16) + "$" + word(86), "$apr" + "1$" + word(8) + "$" + word(22)],
        ["costs $1$ or $6$ there, which is $2b$ too much to pay for", "$2b$12$" + word(20)],
    ),
    "TEAMS_WEBHOOK": (
        ["https://house.{}"],
        ["webhook.office" + ".com/webhookb2/" + uuid() + "@" + uuid() + "/IncomingWebhook/" + hexa(32) + "/" + uuid()],
        ["webhook.office.com/webhookb2/"],
    ),
    "ZAPIER_WEBHOOK": (
        ["https://{}/"],
        ["hooks.zapier" + ".com/hooks/catch/" + number(7) + "/" + low(7)],
        ["hooks.zapier.com/hooks"],
    ),
    "SERVICE_KEY": (
        ["datadog api: {}", "| heroku | api | {} |", "the Twilio sid is {}"],
        [hexa(32), uuid(), word(40)],
        ["datadog api: see the page", "GitHub merged " + hexa(40), "heroku api-of-the-house-and-of-the-garden-too"],
    ),
    "SERVICE_KEY 2": (
        ["everhour={}", "braintree | api | {}"],
        ["-".join((high(4), "1234", high(6), "abcdef", number(8))), number(36)],
        ["braintree | api | " + "0" * 40, "everhour=open-source-time-tracking", "braintree | api | 1234567890123456"],
    ),
    "WIREGUARD_KEY": (
        ["[Interface]\nPrivateKey = {}\n", "PresharedKey={}"],
        [word(42) + "A="],
        ["PrivateKey = <your key>", "PrivateKey is generated anew"],
    ),
    "WEBHOOK_URL": (
        ["https://{}"],
        [
            "oapi.dingtalk" + ".com/robot/send?access_token=" + hexa(64),
            "feishu" + ".cn/open-apis/bot/v2/hook/" + uuid(),
            "qyapi.weixin" + ".qq.com/cgi-bin/webhook/send?key=" + uuid(),
            "webexapis" + ".com/v1/webhooks/incoming/" + word(80),
            "chat.googleapis" + ".com/v1/spaces/" + word(11) + "/messages?key=" + word(39) + "&token=" + word(43),
            "maker.ifttt" + ".com/trigger/rain/with/key/" + word(43),
        ],
        [
            "https://oapi.dingtalk.com/robot/send",
            "https://chat.example/hooks/readme-of-the-house",
            "https://eu1.make.com/x",
        ],
    ),
    "WEBHOOK_URL 2": (
        ["https://chat.house{}"],
        ["/hooks/" + low(26), "/hooks/" + word(17) + "/" + word(48)],
        ["https://chat.house/hooks/before-install-and-after"],
    ),
    "KUBERNETES_TOKEN": (
        ["kubeadm join 10.0.0.1:6443 --token {} --discovery", "--tls-bootstrap-token {}"],
        [low(6) + "." + low(16)],
        ["kubeadm join --token <token>"],
    ),
    "ARTIFACTORY_KEY 2": (
        ["X-JFrog-Art-Api: {}", 'headers={{"X-JFrog-Art-Api": "{}"}}'],
        ["AKC" + word(12), "AP6" + word(10)],
        ["X-JFrog-Art-Api: $KEY"],
    ),
    "PRIVATE_KEY 2": (
        ['{{"kty": "RSA", "n": "x", "d": "{}"}}'],
        [word(43)],
        ['{"kty": "RSA", "n": "' + word(43) + '", "e": "AQAB"}'],
    ),
    "TEAMS_WEBHOOK 2": (
        ["https://{}"],
        ["outlook.office" + ".com/webhook/" + uuid() + "@" + uuid() + "/IncomingWebhook/" + hexa(32) + "/" + uuid()],
        ["https://outlook.office.com/mail/inbox"],
    ),
    "AUTHORIZATION_HEADER 2": (
        ["Authorization: Bearer {}", "curl -H 'Authorization: Bearer {}' https://x", "authorization: token {}"],
        ["s3cr3t-t0ken", hexa(12), "quesofresco77"],
        ["Authorization: Bearer token", "Authorization: Bearer YOUR_TOKEN", "authorization: bearer access_token2"],
    ),
    "CURL_USER 2": (
        ["curl https://x -u {}", "curl --user={} https://x", "curl -u{} https://x", "curl -u '{}' https://x"],
        ["ada:correcthorse", word(20) + ":", ":" + PASSWORD],
        ["curl -u user:pass https://x", "curl -u test:test https://x", "curl -u ada: https://x"],
    ),
    "COMMAND_PASSWORD 9": (
        ["htpasswd -b .htpasswd ada {}", "htpasswd -c -B -b users ada {}", "htpasswd -bc users ada {}"],
        ["hunter22", "Summer!2026"],
        ["htpasswd -c .htpasswd ada", "htpasswd -b users ada $PW"],
    ),
    "COMMAND_PASSWORD 3": (
        [
            "http -a ada:{} https://house",
            "smbclient //house/x -U ada%{}",
            "echo '{}' | sudo -S ls",
            "echo {} | docker login -u ada --password-stdin",
        ],
        [PASSWORD, "hunter2hunter2"],
        ["http -a $USER:$PASS https://house", "echo $PW | sudo -S ls", "echo x | grep y"],
    ),
    "LOGIN_PASSWORD 3": (
        [
            "password={}",
            "use password={} for staging",
            "DB_PASS={}",
            "export DATABASE_PASSWORD={}",
            "docker run -e MYSQL_ROOT_PASSWORD={} mysql",
            "define('DB_PASSWORD', '{}');",
            "contraseña={}",
        ],
        ["supersecret99", "hunter2x"],
        [
            "password=password2",
            "connect(password=secret99)",
            "PASSWORD=password",
            "DB_PASS=$DB_PASS",
            "DB_PASSWORD=changeme",
            "f(PASSWORD=other)",
            "define('DB_PASSWORD', 'password');",
            "password=getpass()",
        ],
    ),
    "LOGIN_PASSWORD 5": (
        ["[site]\nusername=ada\npassword={}\n", "user=ada\ndb.password={}"],
        ["thisisourpwd", "ourpassphraseforit"],
        ["user = ada\npassword = dbpassword\n", "user=ada\npassword=mypassword\n", "user=x\npassword=test_password\n"],
    ),
    "LOGIN_PASSWORD 6": (
        ["psw={}", "  pw={}\n", "pswd: {}\n", 'psql "host=db user=ada password={}"', "Passwort: {}\n"],
        ["hunter22", "tigre88"],
        ['f("x", "password=secret99")', 'print("host password=secret99")', "a pw of 12 letters"],
    ),
    "LOGIN_PASSWORD 7": (
        ["JWT_SECRET={}", "export APP_SECRET_KEY={}\n"],
        ["s3cr3t-jwt", "mysupersecretjwt"],
        [
            "JWT_SECRET=changeme",
            "JWT_SECRET=${JWT}",
            "secret=mysupersecretjwt",
            "SECRET_KEY=MY_SECRET",
            "JWT_SECRET=$JWT",
        ],
    ),
    "LOGIN_PASSWORD 4": (["DB_PASS={}", "export PGPASSWORD={}\n"], ["correcthorse"], ["COMPASS=north", "BYPASS=true"]),
    "SPOKEN_PASSWORD 2": (
        [
            "the db password is {}",
            "The db password is {}.",
            "the password for the staging db is {}",
            "la contraseña de la base es {}",
            "La contraseña de la base de datos es {}.",
            "la clave es {}",
            "la clave del servidor ahora es {}",
            "cambié la contraseña a {}",
            "the admin password was changed to {}",
        ],
        ["supersecret99", "quesofresco77"],
        [
            "the password is required",
            "the password is case-sensitive",
            "la clave es la simplicidad",
            "la contraseña es obligatoria",
            "the key is simplicity",
            "changed the password to comply",
            "the password was reset",
        ],
    ),
    "SPOKEN_PASSWORD 3": (
        ["the db password is {}", "the password is {}.", "la contraseña de la base de datos es {}\n"],
        ["correcthorse", "correct-horse-battery"],
        ["the password is alphanumeric", "the password is up-to-date", "the password is correcthorse or so it seems"],
    ),
    "SPOKEN_PASSWORD 7": (
        ["user ada pass {}", "User: ada, pass: {}", "usuario ada y pass {}", "login ada / pass {}"],
        ["tigre88", "hunter22"],
        ["the users pass step2 of it", "user tests pass 4812", "user ada, pass"],
    ),
    "SPOKEN_PASSWORD 8": (
        ["the door code is {}", "Alarm code: {}", "el código de la puerta es {}", "código de la alarma: {}"],
        ["829113", "#44718"],
        ["the exit code is 1234", "the status code: 4040", "el código postal es 28013", "the door code is 8291.5"],
    ),
    "SPOKEN_PASSWORD 4": (
        ["credentials: ada / {}", "login: ada:{}", "usuario ada contraseña {}", "user ada, password {}"],
        ["hunter22", "Summer2026"],
        ["credentials: see docs/login", "login: ada", "the password sha256 is slow"],
    ),
    "URL_CREDENTIALS 3": (
        ["git clone https://{}@house.example/x.git"],
        [word(40)],
        ["https://ada.lovelace@house.example"],
    ),
    "ENCODED_SECRET": (
        ["data: {}", "LS: {} and so on"],
        [
            encoded(text)
            for text in ("ghp" + "_" + word(36), "x: ghp" + "_" + word(36), "postgres" + "://ada:" + PASSWORD + "@db/m")
        ],
        ["data: " + encoded("a password is wanted here, of eight letters")],
    ),
    "GITHUB_TOKEN 2": (
        ["https://house/?next=%2Fx%3Ft%3D{}%26y%3D1"],
        ["ghp" + "_" + word(36), "ghp" + "%5F" + word(36)],
        ["https://house/?next=%2Fx%3Ft%3Dghp%5Fshort%26y%3D1"],
    ),
    "COMMAND_PASSWORD 10": (
        [
            "podman login -u ada -p {} quay.io",
            "helm registry login -u ada -p {} ghcr.io",
            "twine upload -u ada -p {} dist/*",
            "useradd -p {} ada",
            "mongo -u ada -p {} --authenticationDatabase admin",
            "zip -P {} a.zip b",
            "unzip -P '{}' a.zip",
            "7z x -p{} a.7z",
            "ssh-keygen -N {} -f key",
            "openssl enc -aes-256-cbc -k {} -in a",
            "net user ada {} /add",
            "net use z: \\\\house\\share {} /user:ada",
            "ENV DB_PASSWORD {}",
        ],
        ["Tr0ub4dor9x", "hunter22"],
        [
            "unzip -p house-2026.zip notes2.txt",
            "ssh-keygen -N '' -f key2",
            "net user ada /delete",
            "ENV TOKEN_PATH /run/secrets/token2",
            "7z x -pPASSWORD a.7z",
            "zip -r house2.zip folder3",
        ],
    ),
    "COMMAND_PASSWORD 11": (
        [
            "kubectl create secret generic x --from-literal=pw={}",
            "helm install x --set db.password={}",
            "curl --data-urlencode 'password={}' https://x",
            "docker build --build-arg TOKEN={} .",
            "requirepass {}",
            "masterauth {}",
            "/msg NickServ IDENTIFY {}",
            "enable secret {}",
            "snmp-server community {} RO",
        ],
        ["Tr0ub4dor9x", "hunter22"],
        ["--set image.tag=v2", "requirepass <password>", "snmp-server community public RO", "--set db.password=$PASS1"],
    ),
    "COMMAND_PASSWORD 12": (
        [
            "sqlplus scott/{}@orcl",
            "jdbc:oracle:thin:scott/{}@//db:1521/x",
            "CREATE USER 'ada'@'%' IDENTIFIED BY '{}';",
            "GRANT ALL ON *.* TO ada IDENTIFIED BY '{}'",
            "SET PASSWORD FOR 'ada' = '{}';",
        ],
        ["Tr0ub4dor9x", "s3cret"],
        ["sqlplus scott/$PASS@orcl", "IDENTIFIED BY '<password>'", "each is identified by 'password'"],
    ),
    "COMMAND_PASSWORD 13": (
        ['psk="{}"', "wifi psk: {}", "WIFI:S:house;T:WPA;P:{};;"],
        ["Tr0ub4dor9x", "correct-2-horse"],
        ["psk=<passphrase>", "wifi: ask at the desk", 'psk="password"'],
    ),
    "LOGIN_PASSWORD 10": (
        ['psql "host=db user=ada password={} dbname=x"', "h1 ansible_host=10.0.0.1 ansible_password={}"],
        ["Tr0ub4dor9x", "hunter22"],
        ["connect(host=db, user=ada, password=entered2)", "a == b password=form2.password3"],
    ),
    "HARDCODED_CREDENTIAL 10": (
        [
            '<property name="hibernate.connection.password">{}</property>',
            "<key>password</key><string>{}</string>",
            "<key>apiSecret</key>\n    <string>{}</string>",
        ],
        ["Tr0ub4dor9x", word(24)],
        [
            '<label for="password">Password:</label>',
            '<label for="password">Contraseña</label>',
            "<key>password</key><string>${PASSWORD}</string>",
            '<option value="key">house-2026</option>',
        ],
    ),
    "WEBHOOK_URL 10": (
        [
            "https://chat.house.example/hooks/{}",
            "https://n8n.house.example/webhook/{}",
            "https://house.example/services/team/{}",
            "https://events.house.example/integration/{}/enqueue",
        ],
        [hexa(32), word(28), "3f2504e0-4f89-11d3-9a0c-" + hexa(12)],
        [
            "https://house.example/webhook/what-happens-when-it-is-called",
            "https://house.example/docs/hooks/use-effect-and-others.html",
        ],
    ),
    "URL_CREDENTIALS 10": (
        ["https://house.example/v1?key={}", "https://house.example/f?a=b&code={}", "https://x/?x=y&auth={}&z=1"],
        [word(40), word(52) + "=="],
        ["https://house.example/?key=the-name-of-the-room-or-another", "https://house.example/?code=200"],
    ),
    "URL_CREDENTIALS 11": (
        ["https://bucket.example/f?X-Amz-Signature={}", "https://bucket.example/f?X-Goog-Signature={}&x=1"],
        [hexa(64)],
        ["X-Amz-Signature=<signature>", "X-Amz-Signature=" + "0" * 64],
    ),
    "OTP_SECRET": (
        ["TOTP key {}", "2fa secret {}", "otpauth://totp/house:ada?secret={}&issuer=house", 'mfa_seed: "{}"'],
        ["JBSW" + "Y3DPEHPK3PXPJBSWY3DP", "JBSW " + "Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP"],
        ["TOTP key <secret>", "the OTP is ABCDEFGHABCDEFGH", "2fa is required for 2026"],
    ),
    "RECOVERY_CODE": (
        ["recovery codes: {}", "backup code: {}.", "el código de recuperación es {}", "BitLocker recovery key: {}"],
        ["3f9a-81bc 77de-10fa 9c3b-44d1", "48291-77320", "4F9K2-8HQ3Z", "-".join(number(6) for _ in range(8))],
        ["recovery codes: see the safe", "backup code: none-left", "the recovery key is in the well-known place"],
    ),
    "SEED_PHRASE": (
        ["seed phrase: {}", 'mnemonic = "{}"', "frase semilla: {}"],
        [
            " ".join("house river lemon table cloud seven piano orbit velvet crane anchor salmon".split()),
            " ".join("house river lemon table cloud seven piano orbit velvet crane anchor salmon".split() * 2),
        ],
        [
            "seed phrase: twelve words that must never leave the paper and have to stay secret for ever after",
            "seed house river lemon table",
        ],
    ),
    "PASSWORD_HASH 10": (
        ["ada:{{SHA}}{}", "userPassword: {{SSHA}}{}"],
        [encoded(letters(20)), encoded(letters(28))],
        ["{SHA} is what it begins with"],
    ),
    "PRIVATE_KEY 10": (
        ["untrusted comment: minisign encrypted secret key\n{}", "untrusted comment: signify secret key\n{}\n"],
        ["RW" + word(90) + "=="],
        ["untrusted comment: minisign public key 1", "the minisign secret key stays at home"],
    ),
    "ARTIFACTORY_KEY 10": (
        ["key: {}", 'password = "{}"'],
        ["AKC" + word(14), "AP6" + word(12)],
        ["the type APFloatSemantics2", "AP2xxxxxxxxxx"],
    ),
    "SPOKEN_PASSWORD 10": (
        [
            "my password is: {}",
            "clave wifi: {}",
            "the password for the staging db: {}",
            "pw: {}",
            "log in as ada with password {}",
            "login with ada / {}",
            "use {} as the password",
            "use {} as my database password, please",
            "usá {} como contraseña",
            "poné `{}` como clave",
        ],
        ["Tr0ub4dor9x", "hunter22"],
        [
            "use bcrypt as the password hash",
            "use a 12-letter word as the password",
            "the password for the staging db: see below",
            "clave wifi: pedila",
            "log in as ada with password and key",
        ],
    ),
    "SPOKEN_PASSWORD 11": (
        ["the PIN is {}", "my pin is {}.", "el PIN es {}", "el pin de la tarjeta es {}", "PIN: {}"],
        ["93816274", "482913"],
        ["the pin is 17", "spin is 4829", "the pin is 4829.5 mm away", "the PIN is 482913777"],
    ),
}


def label_of(name: str) -> str:
    """Return the label: further places of one family have a number after it, so that not every secret is tried in every
    place."""
    return name.partition(" ")[0]
