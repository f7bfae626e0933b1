"""Tokens that their issuers gave a prefix (or a mark in the middle); from the issuers' own pages.

Each is one word, and what follows the mark is checked only for fillers.
"""

from store.redaction.placeholders import is_mixed, is_random, is_token
from store.redaction.rules.family import LEFT, RIGHT, Family

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence

    Accept = Callable[[re.Match[str], str], bool]

_HEX = "[0-9a-f]"
_BASE = "[A-Za-z0-9+/]"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def _is_drawn(match: "re.Match[str]", value: str) -> bool:
    """Judge a token with a short prefix that ordinary names begin with too."""
    return is_random(value)


def _is_bearer(match: "re.Match[str]", value: str) -> bool:
    """Judge a token with a prefix that is itself a filler."""
    return is_random(value.lstrip("A"))


def _is_long_lived(match: "re.Match[str]", value: str) -> bool:
    """Judge a token with a prefix of ten letters A, which would count as a filler."""
    return is_random(value[21:])


def _token(
    label: str,
    keywords: str,
    body: str,
    back: "Sequence[int]" = (),
    accept: "Accept" = is_token,
    gate: str = "",
) -> Family:
    """Return a family of one word; `keywords` are separated by spaces."""
    return Family(
        label,
        tuple(keywords.split()),
        LEFT + body + RIGHT,
        back=back,
        gate=gate,
        accept=accept,
    )


def _then(mark: str, signs: str) -> str:
    """Return the mark followed by each of these characters, as keywords: a mark of two letters is part of many
    words."""
    return " ".join(mark + sign for sign in signs)


CODE: tuple[Family, ...] = (
    _token(
        "GITLAB_TOKEN",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- glsoat- gloas- glffct- glwt-",
        r"gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|soat|oas|ffct|wt)-[\w-]{20,}+(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
    ),
    _token("GITLAB_TOKEN", "GR1348941", r"GR1348941[\w-]{20,}"),
    _token("GITLAB_TOKEN", "_gitlab_session=", rf"_gitlab_session={_HEX}{{32}}"),
    _token("NPM_TOKEN", "npm_", r"npm_[A-Za-z0-9]{36,}"),
    _token("PYPI_TOKEN", "pypi-AgE", r"pypi-AgE[\w-]{50,}"),
    _token("RUBYGEMS_TOKEN", "rubygems_", rf"rubygems_{_HEX}{{48}}"),
    _token("CRATES_TOKEN", "cio", r"cio[A-Za-z0-9]{32}", accept=_is_drawn),
    _token("CLOJARS_TOKEN", "CLOJARS_", r"CLOJARS_[A-Za-z0-9]{60}"),
    _token("NUGET_KEY", "oy2", r"oy2[a-z0-9]{43}"),
    _token("DOCKER_TOKEN", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{27,}"),
    _token("ATLASSIAN_TOKEN", "ATATT3 ATCTT3 ATSTT3", r"AT[ACS]TT3[\w=-]{60,}"),
    _token("BITBUCKET_TOKEN", "ATBB", r"ATBB[A-Za-z0-9]{32}(?:[A-F0-9]{8})?"),
    _token("AZURE_KEY", "AZDO", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", back=(76,)),
    _token("BUILDKITE_TOKEN", "bkua_ bkat_ bkct_", rf"bk[uac][at]_{_HEX}{{40,64}}"),
    _token("CIRCLECI_TOKEN", "CCIPAT_ CCIPRJ_", rf"CCIP(?:AT|RJ)_[A-Za-z0-9]{{22}}_{_HEX}{{40}}"),
    _token("SONAR_TOKEN", "squ_ sqp_ sqa_", rf"sq[upa]_{_HEX}{{40}}"),
    _token("SOURCEGRAPH_TOKEN", "sgp_", r"sgp_(?:(?:[0-9A-Fa-f]{16}|local)_)?[A-Za-z0-9]{40}"),
    _token("SOURCEGRAPH_TOKEN", "sgd_ slk_ sgs_", rf"(?:sgd_|slk_|sgs_){_HEX}{{64}}"),
    _token("SNYK_TOKEN", "snyk_", rf"snyk_[a-z]{{3}}\.{_HEX}{{8}}\.[\w.-]{{40,}}"),
    _token("ARTIFACTORY_KEY", "AKCp", r"AKCp[A-Za-z0-9]{56,}"),
    _token("ARTIFACTORY_KEY", "cmVmdGtu", r"cmVmdGtu[A-Za-z0-9]{50,}"),
    _token("OCTOPUS_KEY", "API-", r"API-[A-Z0-9]{25,32}", accept=_is_drawn),
    _token("POSTMAN_KEY", "PMAK-", rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}"),
    _token("PULUMI_TOKEN", "pul-", rf"pul-{_HEX}{{40}}"),
    _token("DOPPLER_TOKEN", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    _token("LINEAR_KEY", "lin_api_ lin_oauth_ lin_wh_", r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{32,64}"),
    _token("SHORTCUT_TOKEN", "sct_", rf"sct_(?:ro|rw)_[a-z]{{0,32}}_?{_UUID}"),
    _token("README_KEY", "rdme_", r"rdme_[a-z0-9]{70}"),
    _token("TERRAFORM_TOKEN", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}", back=(14,)),
    _token("VAULT_TOKEN", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,}"),
    _token("ONEPASSWORD_TOKEN", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/_-]{80,}={0,3}"),
    _token("ONEPASSWORD_KEY", "A3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    _token("AGE_KEY", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}"),
    _token("INFRACOST_KEY", "ico-", r"ico-[A-Za-z0-9]{32}", accept=_is_drawn),
    _token("NEBULA_KEY", "dnkey-", r"dnkey-[\w=-]{26}-[\w=-]{52}"),
    _token("HARNESS_KEY", "pat. sat.", r"[ps]at\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    _token(
        "AUTHRESS_KEY",
        "sc_ ext_ scauth_",
        r"(?:sc|ext|scauth)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{8,32}\.[\w+/=-]{30,120}",
    ),
    _token("INNGEST_KEY", "signkey-", rf"signkey-[a-z]{{2,12}}-{_HEX}{{64}}"),
    _token("LICHESS_TOKEN", "lip_", r"lip_[A-Za-z0-9]{20}", accept=_is_drawn),
    _token("TAILSCALE_KEY", "tskey-", r"tskey-[a-z]{2,12}-[A-Za-z0-9_-]{16,}"),
)

CLOUD: tuple[Family, ...] = (
    _token("AWS_BEDROCK_KEY", "ABSK", r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    _token("AWS_BEDROCK_KEY", "bedrock-api-key-", r"bedrock-api-key-[A-Za-z0-9+/]{40,}={0,2}"),
    _token("GOOGLE_OAUTH_SECRET", "GOCSPX-", r"GOCSPX-[\w-]{28,}"),
    _token("GOOGLE_OAUTH_TOKEN", "ya29.", r"ya29\.[\w-]{20,}+(?:\.[\w-]{20,}+)*+"),
    _token("GOOGLE_OAUTH_TOKEN", "1//0", r"1//0[\w-]{40,}"),
    _token("GOOGLE_KEY", "AQ.Ab8", r"AQ\.Ab8[\w-]{40,}"),
    _token("FIREBASE_KEY", ":APA91", r"AAAA[\w-]{7}:APA91[\w-]{100,}", back=(11,)),
    _token("AZURE_KEY", "Q~", r"[\w~.-]{3}\dQ~[\w~.-]{31,34}", back=(4,)),
    _token("AZURE_KEY", "JQQJ9", r"[A-Za-z0-9]{52}JQQJ9[\w+/=-]{27}", back=(52,)),
    _token("AZURE_KEY", "AzSe", r"[A-Za-z0-9]{42}AzSe[A-Z][A-Za-z0-9]{5}", back=(42,)),
    _token("AZURE_KEY", "AzFu", r"[\w-]{44}AzFu[\w-]{5}[AQgw]==", back=(44,)),
    _token(
        "AZURE_KEY",
        "+ASt +ABa +AMC ACDb APIM +ARm",
        rf"{_BASE}{{76}}(?:\+A(?:St|Ba|MC|Rm)|ACDb|APIM){_BASE}{{6}}==",
        back=(76,),
    ),
    _token("AZURE_KEY", "+ASb +AEh AIoT AzCa", rf"{_BASE}{{33}}(?:\+A(?:Sb|Eh)|AIoT|AzCa){_BASE}{{6}}=", back=(33,)),
    _token("AZURE_KEY", "+ACR", rf"{_BASE}{{42}}\+ACR{_BASE}{{6}}", back=(42,)),
    _token(
        "AWS_SESSION_TOKEN",
        "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz",
        r"(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[A-Za-z0-9+/%]{100,}={0,2}",
    ),
    _token("AWS_MWS_TOKEN", "amzn.mws.", rf"amzn\.mws\.{_UUID}"),
    _token("AMAZON_LOGIN_SECRET", "amzn1.oa2-cs.v1.", rf"amzn1\.oa2-cs\.v1\.{_HEX}{{64}}"),
    _token("APPSYNC_KEY", "da2-", r"da2-[a-z0-9]{26}", accept=_is_drawn),
    _token("DIGITALOCEAN_TOKEN", "dop_v1_ doo_v1_ dor_v1_ dot_v1_", rf"do[oprt]_v1_{_HEX}{{64}}"),
    _token("ALIBABA_KEY", "LTAI", r"LTAI[A-Za-z0-9]{12,26}", accept=_is_drawn),
    _token("TENCENT_KEY", "AKID", r"AKID[A-Za-z0-9]{32}"),
    _token("YANDEX_KEY", "AQVN", r"AQVN[\w-]{35,38}"),
    _token("YANDEX_KEY", "YCA", r"YCA[A-Za-z0-9_-]{22}", accept=_is_drawn),
    _token("YANDEX_TOKEN", "t1.", r"t1\.[A-Za-z0-9_-]{40,}={0,2}\.[\w-]{86}={0,2}"),
    _token("CLOUDFLARE_KEY", "v1.0-", rf"v1\.0-{_HEX}{{24}}-{_HEX}{{146}}"),
    _token("CLOUDFLARE_KEY", "cfk_ cfut_ cfat_", r"cf(?:k|ut|at)_[A-Za-z0-9]{32,}"),
    _token("HEROKU_KEY", "HRKU-", r"HRKU-[\w-]{36,}"),
    _token("FLY_TOKEN", "fo1_ fm1_ fm2_ fm1a_ fm1r_ fm2a_ fm2r_", r"f(?:o1|m[12][ar]?)_[\w+/=,-]{43,}"),
    _token("RENDER_KEY", "rnd_", r"rnd_[A-Za-z0-9]{28,}"),
    _token("NETLIFY_TOKEN", "nfp_ nfc_ nfo_ nfu_ nfb_", r"nf[pcoub]_[A-Za-z0-9_]{36,}"),
    _token("VERCEL_TOKEN", "vcp_ vci_ vca_ vcr_ vck_", r"vc[piark]_[A-Za-z0-9]{24,}"),
    _token("VERCEL_TOKEN", "vercel_blob_rw_", r"vercel_blob_rw_[A-Za-z0-9]{16}_[A-Za-z0-9]{24,}"),
    _token("DATABRICKS_TOKEN", "dapi dose dkea", rf"(?:dapi|dose|dkea){_HEX}{{32}}(?:-\d)?"),
    _token("PLANETSCALE_TOKEN", "pscale_", r"pscale_(?:tkn|oauth|pw)_[\w.=-]{32,}"),
    _token("SUPABASE_KEY", "sbp_", r"sbp_(?:oauth_|v0_)?[a-z0-9]{40}"),
    _token("SUPABASE_KEY", "sb_secret_", r"sb_secret_[\w-]{20,}"),
    _token("NEON_KEY", "napi_", r"napi_[a-z0-9]{60,}"),
    _token("COCKROACH_KEY", "CCDB1_", r"CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}"),
    _token("ASTRA_TOKEN", "AstraCS:", rf"AstraCS:[A-Za-z]{{24}}:{_HEX}{{64}}"),
    _token("CLICKHOUSE_KEY", "4b1d", r"4b1d[A-Za-z0-9]{38}"),
    _token("MONGODB_KEY", "mdb_sa_sk_", r"mdb_sa_sk_[\w-]{40,}"),
    _token("CONFLUENT_KEY", "cflt", r"cflt[A-Za-z0-9+/]{60}"),
    _token("DBT_TOKEN", "dbtc_ dbtu_ dbts_", r"dbt[cus]_[\w-]{30,}=?"),
    _token("PREFECT_KEY", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36}"),
    _token("SCALINGO_TOKEN", "tk-us-", r"tk-us-[\w-]{48,}"),
    _token("OPENSHIFT_TOKEN", "sha256~", r"sha256~[\w-]{43}"),
    _token("GRAFANA_TOKEN", "glc_", r"glc_[A-Za-z0-9+/]{32,}={0,3}"),
    _token("GRAFANA_TOKEN", "glsa_", rf"glsa_[A-Za-z0-9]{{32}}_{_HEX}{{8}}"),
    _token("GRAFANA_TOKEN", "eyJrIjoi", r"eyJrIjoi[A-Za-z0-9+/]{60,}={0,3}"),
    _token("NEWRELIC_KEY", "NRAK- NRII- NRIQ- NRRA- NRAA- NRSP- NRJS-", r"NR(?:AK|II|IQ|RA|AA|SP|JS)-[\w-]{19,}"),
    _token("NEWRELIC_KEY", "NRAL", rf"{_HEX}{{36}}NRAL", back=(36,)),
    _token("SENTRY_TOKEN", "sntrys_", r"sntrys_eyJ[\w+/=-]{60,}"),
    _token("SENTRY_TOKEN", "sntryu_ sntrya_ sntryi_", rf"sntry[uai]_{_HEX}{{64}}"),
    _token("DYNATRACE_TOKEN", "dt0", r"dt0[a-z]\d{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    _token(
        "HONEYCOMB_KEY",
        "hcaik_ hcaic_ hcxik_ hcxlk_ hcalk_ hcamk_ hcxmk_",
        r"hc[ax](?:ik|ic|lk|mk)_[A-Za-z0-9]{26,}",
    ),
    _token("AXIOM_TOKEN", "xaat- xapt- xait-", rf"xa[api][ti]-{_UUID}"),
    _token("POSTHOG_KEY", "phx_", r"phx_[A-Za-z0-9]{40,}"),
    _token("LAUNCHDARKLY_KEY", "sdk- api- mob-", rf"(?:sdk|api|mob)-{_UUID}", gate=f"{_HEX}{{8}}-"),
    _token(
        "RAPIDAPI_KEY",
        "msh",
        r"[a-z0-9]{10}msh[a-z0-9]{15}p1[a-z0-9]{5}jsn[a-z0-9]{12}",
        back=(10,),
        accept=_is_drawn,
    ),
    _token("MAXMIND_KEY", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", back=(36,)),
    _token("ADOBE_SECRET", "p8e-", r"p8e-[\w-]{32,}"),
    _token("FIGMA_TOKEN", "figd_ figo_ figu_ figdr_ figor_ figur_", r"fig[dou]r?h?_[\w-]{40,}"),
    _token("FRAMEIO_TOKEN", "fio-u-", r"fio-u-[\w=-]{60,}"),
    _token("CONTENTFUL_TOKEN", "CFPAT-", r"CFPAT-[\w-]{43}"),
)

MODELS: tuple[Family, ...] = (
    _token("HUGGINGFACE_TOKEN", "hf_", r"hf_[A-Za-z0-9]{30,}", accept=is_mixed),
    _token("HUGGINGFACE_TOKEN", "api_org_", r"api_org_[A-Za-z0-9]{34}"),
    _token("GROQ_KEY", "gsk_", r"gsk_[A-Za-z0-9]{48,}"),
    _token("PERPLEXITY_KEY", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    _token("XAI_KEY", "xai-", r"xai-\w{60,}"),
    _token("REPLICATE_TOKEN", "r8_", r"r8_[A-Za-z0-9]{37,}"),
    _token("NVIDIA_KEY", "nvapi-", r"nvapi-[\w-]{40,}"),
    _token("ELEVENLABS_KEY", "sk_", rf"sk_{_HEX}{{48}}"),
    _token("LANGCHAIN_KEY", "lsv2_", rf"lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}"),
    _token("LANGCHAIN_KEY", "ls__", rf"ls__{_HEX}{{32}}"),
    _token("PINECONE_KEY", "pcsk_", r"pcsk_\w{40,}"),
    _token("TAVILY_KEY", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}"),
    _token("FIRECRAWL_KEY", "fc-", rf"fc-{_HEX}{{32}}"),
    _token("E2B_KEY", "e2b_", rf"e2b_{_HEX}{{40}}"),
    _token("JINA_KEY", "jina_", r"jina_[\w-]{60,}"),
    _token("VOYAGE_KEY", "pa-", r"pa-[\w-]{43}", accept=_is_drawn),
    _token("RUNPOD_KEY", "rpa_", r"rpa_[A-Za-z0-9]{40,}"),
    _token("CEREBRAS_KEY", "csk-", r"csk-[a-z0-9]{40,}"),
    _token("TOGETHER_KEY", "tgp_v1_", r"tgp_v1_[\w-]{43}"),
    _token("FIREWORKS_KEY", "fw_", r"fw_[A-Za-z0-9]{22,40}", accept=_is_drawn),
    _token("ANYSCALE_KEY", "esecret_", r"esecret_[a-z0-9]{24,}"),
    _token("WANDB_KEY", "wandb_v1_", r"wandb_v1_[A-Za-z0-9_]{40,}"),
)

SERVICES: tuple[Family, ...] = (
    _token(
        "STRIPE_KEY",
        "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ sk_org_",
        r"[rs]k_(?:org_)?(?:live|test|prod)_[A-Za-z0-9]{10,}",
    ),
    _token("STRIPE_WEBHOOK_SECRET", "whsec_", r"whsec_[A-Za-z0-9+/]{24,}={0,2}"),
    _token("SQUARE_TOKEN", "sq0", r"sq0[a-z]{3}-[\w-]{22,60}"),
    _token("SQUARE_TOKEN", "EAAA", r"EAAA[\w+=-]{56,62}", accept=_is_drawn),
    _token("FACEBOOK_TOKEN", "EAA", r"EAA[A-Z][A-Za-z0-9]{80,}", accept=_is_drawn),
    # the id and the secret of an app
    Family(
        "FACEBOOK_TOKEN",
        (*(f"{digit}|" for digit in range(10)), "%7C"),
        LEFT + r"(?<!LLM\|)\d{13,17}(?:\||%7C)[\w-]{27,40}" + RIGHT,
        back=range(12, 18),
        accept=_is_drawn,
    ),
    _token("SHOPIFY_TOKEN", "shp", r"shp(?:at|ca|pa|ss|ua|tka|rt|it)_[0-9A-Fa-f]{32,}"),
    _token("MAILCHIMP_KEY", "-us", rf"{_HEX}{{32}}-us\d{{1,2}}", back=(32,), gate=r"\d"),
    _token("MANDRILL_KEY", "md-", r"md-[\w-]{22}", accept=_is_drawn),
    _token("MAILGUN_KEY", "key-", r"key-[0-9a-z]{32}", accept=_is_drawn),
    _token("MAILGUN_KEY", "pubkey-", r"pubkey-[0-9a-f]{32}"),
    _token("MAILERSEND_KEY", "mlsn.", rf"mlsn\.{_HEX}{{64}}"),
    _token("BREVO_KEY", "xkeysib- xsmtpsib-", rf"x(?:key|smtp)sib-{_HEX}{{64}}-[A-Za-z0-9]{{16}}"),
    _token("RESEND_KEY", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}", accept=_is_drawn),
    _token("TWILIO_KEY", _then("SK", "0123456789abcdef"), rf"SK{_HEX}{{32}}"),
    _token("NOTION_TOKEN", "ntn_", r"ntn_[A-Za-z0-9]{40,}"),
    _token("NOTION_TOKEN", "secret_", r"secret_[A-Za-z0-9]{43}"),
    _token("AIRTABLE_TOKEN", "pat", rf"pat[A-Za-z0-9]{{14}}\.{_HEX}{{64}}"),
    _token("HUBSPOT_TOKEN", "pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", rf"pat-(?:na|eu|ap)\d-{_UUID}"),
    _token("ASANA_TOKEN", "1/ 2/", rf"[12]/\d{{12,16}}(?:/\d{{12,16}})?:{_HEX}{{32}}"),
    _token("TRELLO_TOKEN", "ATTA", r"ATTA[0-9A-Fa-f]{64}"),
    _token("INTERCOM_TOKEN", "dG9rO", r"dG9rO[A-Za-z0-9+/]{40,}={0,2}"),
    _token("SALESFORCE_TOKEN", "00D", r"00D[A-Za-z0-9]{12,15}![\w.]{80,}"),
    _token("SEGMENT_TOKEN", "sgp_", r"sgp_[A-Za-z0-9]{64}"),
    _token("TYPEFORM_TOKEN", "tfp_", r"tfp_[\w.-]{40,}"),
    _token("DROPBOX_TOKEN", "sl.", r"sl\.(?:u\.)?[\w-]{120,}"),
    _token("DROPBOX_TOKEN", "AAAAAAAAAA", r"[a-z0-9]{11}AAAAAAAAAA[\w=-]{43}", back=(11,), accept=_is_long_lived),
    _token("LOB_KEY", "live_ test_", rf"(?<!_)(?:live|test)_(?:pub_)?{_HEX}{{31,35}}"),
    _token("GOCARDLESS_TOKEN", "live_ sandbox_", r"(?<!_)(?:live|sandbox)_[\w=-]{40}", accept=_is_drawn),
    _token("CLICKUP_TOKEN", "pk_", r"pk_\d{5,12}_[A-Z0-9]{32}"),
    _token("STYTCH_SECRET", "secret-live- secret-test-", r"secret-(?:live|test)-[\w-]{36}="),
    _token("CALCOM_KEY", "cal_", rf"cal_(?:live_)?{_HEX}{{32}}"),
    _token("MAPBOX_TOKEN", "sk.eyJ tk.eyJ", r"[st]k\.eyJ[\w-]{40,}\.[\w-]{20,}"),
    _token("SHIPPO_TOKEN", "shippo_live_ shippo_test_", rf"shippo_(?:live|test)_{_HEX}{{40}}"),
    _token("EASYPOST_KEY", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}"),
    _token("DUFFEL_TOKEN", "duffel_live_ duffel_test_", r"duffel_(?:live|test)_[\w=-]{43}"),
    _token("FLUTTERWAVE_KEY", "FLWSECK FLWPUBK", r"FLW(?:SECK|PUBK)(?:_TEST)?-[0-9A-Za-z]{12,}(?:-X)?"),
    _token("PLAID_TOKEN", "access-", rf"access-(?:sandbox|development|production)-{_UUID}"),
    _token("BRAINTREE_TOKEN", "access_token$", rf"access_token\$(?:production|sandbox)\$[a-z0-9]{{16}}\${_HEX}{{32}}"),
    _token("MERCADOPAGO_TOKEN", "APP_USR-", rf"APP_USR-\d{{10,16}}-\d{{6}}-{_HEX}{{32}}-\d+"),
    _token("ADYEN_KEY", "AQE", r"AQE[\w+/*$%^&@!:?.=-]{120,}", accept=_is_drawn),
    _token("PADDLE_KEY", "pdl_", r"pdl_(?:live|sdbx)_apikey_\w{40,}"),
    _token("POLAR_TOKEN", "polar_", r"polar_(?:oat|pat|at_u|rt_u)_\w{30,}"),
    _token("RAZORPAY_KEY", "rzp_live_ rzp_test_", r"rzp_(?:live|test)_[A-Za-z0-9]{14}"),
    _token("TWITTER_TOKEN", "AAAAAAAAAAAAAAAAAAAA", r"A{20,24}[A-Za-z0-9%+/=]{60,}", accept=_is_bearer),
    _token(
        "OKTA_TOKEN", _then("00", "abcdefghijklmnopqrstuvwxyz"), r"(?<!-)00[A-Za-z][\w-]{39}(?![\w-])", accept=_is_drawn
    ),
    # the number of a bot in Base64, whose first digit determines these beginnings
    _token(
        "DISCORD_TOKEN",
        " ".join(_then(mark, "AEIMQUYcgk") for mark in "MD MT Mj Mz ND NT Nj Nz OD OT".split()),
        r"[MNO][DTjz][A-Za-z0-9_-]{22,26}\.[\w-]{6}\.[\w-]{27,38}",
    ),
    _token(
        "BITWARDEN_KEY",
        _then("0.", "0123456789abcdef"),
        rf"0\.{_UUID}\.[A-Za-z0-9]{{30}}:[A-Za-z0-9+/]{{22}}==",
        gate=f"{_HEX}{{7}}-",
    ),
    _token("INTRA42_SECRET", "s-s4t2", rf"s-s4t2(?:ud|af)-{_HEX}{{64}}"),
    _token("ROOTLY_KEY", "rootly_", rf"rootly_{_HEX}{{64}}"),
    _token("STATSIG_KEY", "secret-", r"secret-[A-Za-z0-9]{40,}"),
    _token("APIFY_TOKEN", "apify_api_", r"apify_api_[A-Za-z0-9]{36}"),
    _token("DENO_TOKEN", "ddp_ ddw_ ddo_", r"dd[pwo]_[A-Za-z0-9]{36}"),
    _token("CLOUDINARY_URL", "cloudinary://", r"cloudinary://\d{12,18}:[\w-]{24,}@[\w-]+"),
    # api.telegram.org/bot123:AA… too
    _token(
        "TELEGRAM_TOKEN",
        " ".join(f"{digit}:A" for digit in range(10)),
        r"(?:bot)?\d{5,16}:A[\w-]{33,34}(?![\w-])",
        back=range(4, 19),
    ),
)

MORE: tuple[Family, ...] = (
    _token("ADAFRUIT_KEY", "aio_", r"aio_[A-Za-z0-9]{28}"),
    _token("AIVEN_PASSWORD", "AVNS_", r"AVNS_[\w-]{18,24}"),
    _token("AKAMAI_KEY", "akab-", r"akab-[a-z0-9]{16}-[a-z0-9]{16}"),
    _token("ALCHEMY_KEY", "alcht_", r"alcht_[A-Za-z0-9]{30,34}"),
    _token("BAIDU_KEY", "bce-v3/", rf"bce-v3/ALTAK-[A-Za-z0-9]{{21}}/{_HEX}{{40}}"),
    _token(
        "BLOCKFROST_KEY", "mainnet preprod preview", r"(?:mainnet|preprod|preview)[A-Za-z0-9]{32}", accept=_is_drawn
    ),
    _token("BRAVE_KEY", "BSA", r"BSA[\w-]{27,28}(?![\w-])", accept=_is_drawn),
    _token("BROWSERBASE_KEY", "bb_live_ bb_test_", r"bb_(?:live|test)_[\w-]{24,}"),
    _token("CARTESIA_KEY", "sk_car_", r"sk_car_[\w-]{20,}"),
    _token("CHROMA_KEY", "ck-", r"ck-[A-Za-z0-9]{43,44}"),
    _token("CHROMATIC_TOKEN", "chpt_", r"chpt_[a-z0-9]{12,40}", accept=_is_drawn),
    _token("CHECKOUT_KEY", "sk_sbox_", r"sk_sbox_[a-z0-9]{26,}[*#$=]?"),
    _token("COURIER_KEY", "pk_prod_ pk_test_", r"pk_(?:prod|test)_[A-Z0-9]{28}"),
    _token("ELASTIC_KEY", "essu_", r"essu_[\w+/=-]{40,}"),
    _token("ENDORLABS_KEY", "endr+", r"endr\+[A-Za-z0-9-]{16}"),
    _token("EXOSCALE_KEY", "EXO", rf"EXO{_HEX}{{24}}"),
    _token("FAUNA_KEY", "fnA fnE fnF", r"fn[A-F][\w-]{37,44}", accept=_is_drawn),
    _token("FLEETBASE_KEY", "flb_live_ flb_test_", r"flb_(?:live|test)_[A-Za-z0-9]{20,}"),
    _token("FLICKR_TOKEN", "7215", rf"7215\d{{13}}-{_HEX}{{16}}"),
    _token("FULLSTORY_KEY", "na1. eu1.", r"(?:na|eu)1\.[A-Za-z0-9+/]{80,}"),
    _token("GITBOOK_TOKEN", "gb_api_", r"gb_api_[A-Za-z0-9]{24,}"),
    _token("HELICONE_KEY", "sk-helicone-", r"sk-helicone-[\w-]{20,}"),
    _token("HONEYBADGER_KEY", "hbp_", r"hbp_[A-Za-z0-9]{30,40}"),
    _token("HUMANLOOP_KEY", "hl_sk_", r"hl_sk_[a-z0-9]{40,}"),
    _token("IBM_KEY", "ApiKey-", rf"ApiKey-{_UUID}"),
    _token("IMAGEKIT_KEY", "private_", r"private_[A-Za-z0-9+/]{27}=", accept=_is_drawn),
    _token("INFISICAL_TOKEN", _then("st.", "0123456789abcdef"), rf"st\.{_UUID}\.{_HEX}{{32}}(?:\.{_HEX}{{32}})?"),
    _token("IONIC_TOKEN", "ion_", r"ion_[A-Za-z0-9]{42}"),
    _token("JENKINS_TOKEN", _then("11", "0123456789abcdef"), rf"11{_HEX}{{32}}", accept=_is_drawn),
    _token("KLAVIYO_KEY", "pk_", rf"pk_{_HEX}{{34}}"),
    _token("LLAMA_KEY", "LLM|", r"LLM\|\d{12,18}\|[\w-]{24,}"),
    _token("LLAMAINDEX_KEY", "llx-", r"llx-[A-Za-z0-9]{40,}"),
    _token("LUMA_KEY", "luma-", rf"luma-{_UUID}(?:-{_UUID})?"),
    _token("MATERIALIZE_PASSWORD", "mzp_", rf"mzp_{_HEX}{{64}}"),
    _token("MEM0_KEY", "m0-", r"m0-[A-Za-z0-9]{40}"),
    _token("MIDTRANS_KEY", "Mid-server- Mid-client-", r"Mid-(?:server|client)-[\w-]{20,}"),
    _token("MINTLIFY_KEY", "mint_", r"mint_(?:dsc_)?[A-Za-z0-9]{22,}", accept=_is_drawn),
    _token("MODAL_TOKEN", "ak- as- wk- ws-", r"[aw][ks]-[A-Za-z0-9]{22}", accept=_is_drawn),
    _token("MOLLIE_KEY", "live_ test_", r"(?<!_)(?:live|test)_[A-Za-z0-9]{30}", accept=_is_drawn),
    _token("NEON_PASSWORD", "npg_", r"npg_[A-Za-z0-9]{12,}", accept=is_token),
    _token("ONFIDO_TOKEN", "api_live api_sandbox", r"api_(?:live|sandbox)(?:_[a-z]{2})?\.[\w-]{11}\.[\w-]{32}"),
    _token("ORY_TOKEN", "ory_", r"ory_(?:pat|at|rt|ac|st|wak)_[\w.-]{32,}"),
    _token("PAGARME_KEY", "ak_live_ ak_test_", r"ak_(?:live|test)_[A-Za-z0-9]{30,}"),
    _token("PACKAGIST_TOKEN", "packagist_", r"packagist_[a-z]{3,4}_[0-9a-f]{56,72}"),
    _token(
        "PERCY_TOKEN", "web_ app_ auto_ server_ mobile_", rf"(?:web|app|auto|server|mobile)_(?:{_HEX}{{32}}){{1,2}}"
    ),
    _token("PERSONA_KEY", "persona_", rf"persona_(?:sandbox|production)_{_UUID}"),
    _token("PINTEREST_TOKEN", "pina_", r"pina_[A-Za-z0-9]{32,}"),
    _token("PUBNUB_SECRET", "sec-c-", r"sec-c-[A-Za-z0-9+/=_-]{36,60}"),
    _token("RAMP_SECRET", "ramp_sec_", r"ramp_sec_[A-Za-z0-9]{40,}"),
    _token(
        "RECHARGE_KEY",
        "sk_1x1_ sk_1x2_ sk_1x3_ sk_2x2_ sk_3x3_ sk_5x5_ sk_10x10_",
        rf"sk_\d{{1,2}}x\d{{1,2}}_{_HEX}{{64}}",
    ),
    _token("RETOOL_TOKEN", "retool_01", r"retool_01[a-z0-9]{24,}"),
    _token("RUNWAY_KEY", "key_", rf"key_{_HEX}{{32,128}}"),
    _token("SAMSARA_TOKEN", "samsara_api_", r"samsara_api_[A-Za-z0-9]{30}"),
    _token("SCALEWAY_KEY", "SCW", r"SCW[A-Z0-9]{17}", accept=_is_drawn),
    _token("SETTLEMINT_TOKEN", "sm_aat_ sm_pat_ sm_sat_", r"sm_[aps]at_[A-Za-z0-9]{16}"),
    _token("SOCKET_KEY", "sktsec_", r"sktsec_[\w-]{40,}"),
    _token("SVIX_KEY", "testsk_ sk_", r"(?:testsk|sk)_[\w-]{32,80}+\.(?:us|eu|ca|in|au)"),
    _token("TATUM_KEY", _then("t-", "0123456789abcdef"), rf"t-{_HEX}{{24}}-{_HEX}{{24}}"),
    _token("THUNDERSTORE_TOKEN", "tss_", r"tss_[A-Za-z0-9]{36,}"),
    _token("TIKTOK_TOKEN", "act. clt. rft.", r"(?:act|clt|rft)\.[A-Za-z0-9]{40,}(?:![\d.a-z]{1,12})?"),
    _token("TINYBIRD_TOKEN", "p.eyJ", r"p\.eyJ[\w-]{20,}\.[\w-]{20,}"),
    _token("TRIGGER_KEY", "tr_", r"tr_(?:dev|prod|stg|pat|preview)_[A-Za-z0-9]{20,}"),
    _token("TWITCH_TOKEN", "oauth:", r"oauth:[a-z0-9]{30}"),
    _token("UBIDOTS_TOKEN", "BBFF- BBUS-", r"BB(?:FF|US)-[A-Za-z0-9]{30}"),
    _token("UNKEY_KEY", "unkey_", r"unkey_[A-Za-z0-9]{20,}", accept=_is_drawn),
    _token("UPCLOUD_TOKEN", "ucat_", r"ucat_[A-Z0-9]{26}"),
    _token("VAULT_TOKEN", "b.AAAA", r"b\.AAAA[\w-]{90,}", accept=_is_drawn),
    _token("VALTOWN_TOKEN", "vtwn_", r"vtwn_[A-Za-z0-9]{20,}"),
    _token("VOICEFLOW_KEY", "VF.DM. VF.WS. VF.", rf"VF\.(?:(?:DM|WS)\.)?{_HEX}{{24}}\.[A-Za-z0-9]{{16}}"),
    _token("VOLCENGINE_KEY", "AKLT", r"AKLT[A-Za-z0-9_-]{40,60}", accept=_is_drawn),
    _token("XATA_KEY", "xau_", r"xau_[A-Za-z0-9]{30,}"),
    _token("YANDEX_TOKEN", "y0_", r"y[0-3]_[\w-]{50,}"),
    _token("ZOHO_TOKEN", "1000.", rf"1000\.{_HEX}{{32}}\.{_HEX}{{32}}"),
    _token("ZUPLO_KEY", "zpka_", rf"zpka_[A-Za-z0-9]{{32}}_{_HEX}{{8}}"),
)

TOKENS: tuple[Family, ...] = (*CODE, *CLOUD, *MODELS, *SERVICES, *MORE)
