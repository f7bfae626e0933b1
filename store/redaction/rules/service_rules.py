"""Keys of services without a prefix of their own: the service's name and a word for a credential before it identify
them.

The list contains names that hardly have another meaning.
"""

from store.redaction.placeholders import is_grouped, is_number, is_opaque, is_random, is_serial, is_uuid
from store.redaction.rules.family import Family

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

# Texts about these often contain identifiers of commits, channels and people: a word for a credential must be near.
_HOSTS = (
    "github gitlab bitbucket azure facebook twitter twitch discord heroku jira telegram spotify reddit "
    "instagram pinterest stripe slack "
).split()
_NAMES = (
    "abstractapi abuseipdb abyssale accuweather acunetix adafruit adzuna aeroworkflow aftership aikido airbrake "
    "airtable airvisual aiven akamai alchemy alegra aletheia algolia alibaba alienvault amadeus amplitude "
    "amplitudeapikey anthropic anypoint apacta apideck apiflash apifonica apify apilayer apimatic apimetrics "
    "apitemplate appcenter appcues appfollow appointedd appoptics appsflyer appsynergy apptivo artifactory asana "
    "assemblyai atera atlassian audd auth0 autodesk autoklose avaza aviationstack axonaut aylien ayrshare bannerbear "
    "baremetrics beebole besnappy besttime betterstack billomat bitbar bitcoinaverage bitfinex bitly bitmex bitrise "
    "bittrex blablabus blazemeter blitapp blocknative bombbomb boostnote borgbase botmaker bouncify braintree "
    "brandfetch brevo brightdata browserstack browshot bscscan buddyns bugherd bugsnag buildkite bulksms buttercms "
    "caflou calendarific calendly calorieninja campayn capsulecrm captaindata carboninterface cashboard caspio censys "
    "centralstationcrm cexio chartmogul chatfule checio checklyhq checkmarket checkvist circleci clarifai clearbit "
    "clickhelp clicksend clickup cliengo clinchpad clockify clockworksms cloudconvert cloudelements cloudflare "
    "cloudimage cloudinary cloudmersive cloudplan cloudsmith cloverly clustdoc codacy codeclimate codecov codemagic "
    "codequiry cohere coinapi coinbase coinlayer coinlib coinmarketcap collect2 commercejs companyhub configcat "
    "confluent contentful contentstack conversiontools convertapi convertkit copyscape couchbase countrylayer "
    "coveralls craftmypdf cratesio crowdin cryptocompare currencycloud currencyfreaks currencylayer currencyscoop "
    "currentsapi customerguru customerio d7network dailyco databento databox databricks datadog datafire datagov "
    "datarobot debounce deepai deepgram deepl deepseek delighted detectify detectlanguage dfuse diggernaut digicert "
    "digitalocean dingtalk discogs disqus dnscheck dnsimple docparser documo docusign doppler dotdigital dovico "
    "droneci dropbox duffel dwolla dynadot dynatrace dyspatch eagleeyenetworks easyinsight easypost ecostruxureit "
    "edamam edenai eightxeight elasticemail elevenlabs enablex endorlabs etherscan ethplorer etsy eventbrite everhour "
    "exchangerateapi exchangeratesapi exportsdk extractorapi faceplusplus fastforex fastly fetchrss fibery figma "
    "fileio filestack finage financialmodelingprep finicity finnhub fixerio flatio fleetbase flexport flightapi "
    "flightlabs flightstats fluxresponse formbucket formcraft formio formsite foursquare frameio freshbooks freshdesk "
    "freshsales freshservice frontegg fullcontact fullstory fxmarket gengo geoapify geocodify geocodio geoipifi "
    "getemail getemails getgeoapi getgist getresponse getsandbox gitter givebutter glassnode glitterlycard gnews "
    "gocanvas gocardless goodday grafana graphcms graphhopper greptile groovehq gtmetrix guardianapi gumroad gyazo "
    "happyscribe hellosign helpcrunch helpscout hereapi hetzner hiveage holidayapi honeybadger honeycomb hostinger "
    "html2pdf hubspot huggingface hunterio hybiscus hypertrack iconfinder iexcloud imagekit imagga imgix influxdb "
    "infobip infura insightly instabot instamojo interseller interzoid intrinio invoiceocean ipapi ipgeolocation "
    "ipify ipinfo ipinfodb ipquality ipqualityscore ipstack iterable jfrog jotform jumpcloud jumpseller juro kakao "
    "kanbantool karmacrm keenio keygen kickbox kimi klaviyo klipfolio knapsackpro kontent kucoin kylas languagelayer "
    "laposta larksuite launchdarkly leadfeeder leaseweb lemlist lemonsqueezy lendflow lessannoyingcrm lexigram "
    "lichess linearapi linemessaging linenotify linkedin linkpreview linode liveagent livekit livestorm loadmill "
    "localytics locationiq logdna loggly loginradius logtail logzio lokalise loyverse lumigo madkudu magicbell "
    "mailboxlayer mailchimp mailerlite mailersend mailgun mailjet mailjetsms mailmodo mailtrap mandrill mapbox "
    "mapquest marketstack matomo mattermost mavenlink maxmind meaningcloud mediastack meilisearch meraki mergify "
    "mesibo messagebird metaapi metrilo midjourney mindmeister minimax mistral mixmax mixpanel mockaroo monkeylearn "
    "moonclerk moonshot moosend moralis mrticktock muxapi myexperiment myfreshworks myintervals nasdaqdatalink "
    "neptuneai nethunt netlify neutrino new_relic newrelic newsapi newscatcher nexmo nftport ngrok nicereply "
    "nightfall noticeable nozbeteams nubela numverify nutritionix nvidia nylas nytimes oanda octopusdeploy okta "
    "omnisend onedesk onelogin onepagecrm onesignal onfleet onwaterio oopspam openai openaq opencagedata "
    "opencorporates openrouter openuv openweather openweathermap opsgenie optimizely overloop owlbot packagecloud "
    "pagarme pagerduty pandadoc pandascore paralleldots parallelsai parsehub parseur partnerstack passbase paydirtapp "
    "paymoapp paymongo paypal paystack pdflayer pdfshift peopledatalabs pepipost perplexity petfinder phantombuster "
    "phraseapp pinecone pingdom pipedream pipedrive pivotaltracker pixabay plaid planetscale plivo podio pollsapi "
    "poloniex positionstack postageapp posthog postman postmark powrbot privateai prodpad prospectcrm prospectio "
    "protocolsio proxycrawl pubnub purestake pushbullet pusher pushover qase qualaroo qubole questdb quicknode "
    "rabbitmq rapidapi rawg razorpay reachmail reallysimplesystems rebrandly recaptcha rechargepayments redash "
    "remotebg removebg rentman repairshopr replicate replyio requestfinance resend restpack restpackhtmltopdf revai "
    "revampcrm rijksmuseum ringcentral ritekit robinhood rocketreach rollbar route4me runpod runrunit salesblink "
    "salescookie salesflare salesforce salesmate samsara satismeter saucelabs scaleway scalingo scrapeowl scraperapi "
    "scraperbox scrapestack scrapfly scrapingant scrapingbee scrapingdog screenshotapi screenshotlayer scrutinizerci "
    "securitytrails segment selectpdf semantria sendbird sendgrid sendinblue sentry serpapi serper serphouse "
    "serpstack sheety sherpadesk shipday shippo shodan shopify shotstack shutterstock signalwire signaturit "
    "signupgenius sigopt simfin simplesat simplynoted sinch siteleaf skrappio skybiometry smartsheet smartsheets "
    "smartystreets smooch snipcart snowflake snyk softlayer sonar sonarcloud sonarqube sourcegraph sparkpost "
    "speechtextai splunk splunkobservability spoonacular sportradar sportsmonk sqreen squarespace squareup stackhawk "
    "statsig statuscake statuspage statuspal stitchdata stockdata stormboard stormglass storyblok storychief strapi "
    "strava stripo stytch sugester sumologic supabase supernotes surveyanyplace surveysparrow survicate swiftype "
    "tableau tailscale talenthr tallyfy tatumio tavily taxjar teamgate teamworkcrm teamworkdesk teamworkspaces "
    "technicalanalysisapi tefter telesign teletype telnyx terraformcloud testingbot textmagic thehive theoddsapi "
    "thinkific thousandeyes ticketmaster ticktick tiingo timecamp timezoneapi tineswebhook tmetric todoist toggltrack "
    "tomorrowio tomtom transferwise travelpayouts travisci trello truenas twelvedata twilio tyntec typeform typetalk "
    "ubidots uclassify unifyid unplugg unsplash upcdatabase uplead uploadcare upstage upstash uptimerobot upwave "
    "urlscan userflow userstack vagrantcloud vatlayer vbout veevavault vercel verimail veriphone versioneye viewneo "
    "virustotal visualcrossing voicegain voodoosms vouchery vpnapi vultr vyte walkscore weatherbit weatherstack "
    "weaviate webex webexapi webflow webscraper webscraping webshare weightsandbiases wandb wepay whoxy wistia wiza "
    "woocommerce workato workos worksnaps worldcoinindex worldweather wrike xero yandex yext yodlee youneedabudget "
    "yousign youtubeapi zapier zendesk zenkit zenrows zenscrape zenserp zeplin zerobounce zerotier zipapi zipbooks "
    "zipcodeapi zoho zonkafeedback zoominfo zulip "
).split()
_CREDENTIAL = r"(?:key|token|secret|passw|auth|cred|access|private|api|sid|pat(?![a-z]))"
_SUMS = ("h1:", "sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "md5:")  # of files, in lists of installed packages
_VERSION = "v0.0.0-"
# what a service's message of an error names; each is written in four ways
_NUMBERED = tuple(
    f"{what}{sign}id" for what in ("request", "trace", "correlation", "message", "run") for sign in ("_", "-", " ", "")
)
_SHORTEST = 16
_SHORTEST_NUMBER = 32
"""Digits: longer than any identifier of a service."""
_SHORTEST_GIVEN = 10
"""Directly after `name_key=`."""


def _is_key(match: "re.Match[str]", value: str) -> bool:
    text, start = match.string, match.start("value")
    if text.endswith(_SUMS, 0, start) or value.startswith(_VERSION):
        return False
    if text[max(0, start - 24) : start].rstrip(" :=\"'`").lower().endswith(_NUMBERED):
        return False
    given = text[max(0, start - 4) : start].rstrip(" \"'")[-1:] in ("=", ":")
    if is_random(value, _SHORTEST_GIVEN if given else _SHORTEST):
        return True
    value = value.rstrip("=")
    if is_uuid(value):
        return any(map(str.isdigit, value))
    return is_serial(value, 20) or is_opaque(value) or is_number(value, _SHORTEST_NUMBER) or is_grouped(value)


_VALUE = r"(?P<value>(?=[a-z_./+~-]{0,40}\d|[a-z0-9]{20})[a-z0-9][\w.~+/-]{9,200}+={0,2})(?![\w@])"
SERVICE_KEY = Family(
    "SERVICE_KEY",
    (*_HOSTS, *_NAMES),
    rf"(?<![a-z])(?![a-z]{{3,12}}\.(?:com|org)/)[^\n\0]{{3,60}}?{_CREDENTIAL}[^\n\0]{{0,32}}?[\s\"'`=:,>(|-]{_VALUE}",
    fold=True,
    accept=_is_key,
)
# The name alone, directly before a value: `nicereply 0f9a…`.
SERVICE_VALUE = Family(
    "SERVICE_KEY",
    tuple(_NAMES),
    rf"(?<![a-z./@-])[a-z0-9_]{{4,30}}[\s\"'`=:>]{{1,4}}{_VALUE}",
    fold=True,
    accept=lambda match, value: len(value) >= 20 and _is_key(match, value),
)
