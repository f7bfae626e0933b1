"""The facts of billing-api's year, oldest first."""

from tui.demo.records import DemoChange, DemoFact

AGENT, CLAUDE, HOOK, FILE, NOTES = "agent", "mcp:claude-code", "hook", "file", "import:notes"

FACTS = (
    # winter
    DemoFact("357", "personal", "Nadia is allergic to peanuts: no snacks from the machine at retros", pinned=True),
    DemoFact("356", "projects", "billing-api issues invoices for studios of three to twelve people", seen="190 30"),
    DemoFact("356", "work", "Team of three: Nadia, Tomás and Greta", "team3"),
    DemoFact("355", "preferences", "Prefers one process over three services", seen="180 41"),
    DemoFact("354", "work", "The database is PostgreSQL 16, on the small server", "postgres"),
    DemoFact("352", "preferences", "Respuestas cortas; el porqué al final", seen="200 12", tags="estilo"),
    DemoFact(
        "351", "decisions", "Money is whole cents everywhere, see D#3", seen="160 22", evidence="D#3", tags="money"
    ),
    DemoFact(
        "350", "work", "Nadia trabaja desde Valencia, Tomás desde Montevideo, Greta desde Gotemburgo", seen="150 20"
    ),
    DemoFact(
        "348", "preferences", "Code in English, talk in whichever language comes first", seen="120 15", tags="idioma"
    ),
    DemoFact("345", "projects", "El código vive en un solo repositorio", seen="70"),
    DemoFact("342", "work", "Uses Jenkins for the nightly build", "jenkins", confidence="medium"),
    DemoFact("340", "personal", "Tomás es celíaco", pinned=True, tags="comida"),
    DemoFact("338", "general", "La marca es una farola; el logo mide 16 por 16 y nadie lo toca", by=AGENT, seen="110"),
    DemoFact("335", "work", "Stand-up at nine", "standup9"),
    DemoFact("331", "work", "Rounds half up, as at school", "rounding1", evidence="D#6", tags="rounding money"),
    DemoFact(
        "328", "projects", "The accountant adds rounding cases to tests/cases/rounding.csv", seen="95", tags="rounding"
    ),
    DemoFact(
        "325", "preferences", "Tests tell a story with real files, mocks only where nothing else is possible", seen="50"
    ),
    DemoFact(
        "320",
        "self_correction",
        "Do not invent VAT rates: read data/vat.csv or say it is missing",
        by=HOOK,
        seen="130 8",
    ),
    DemoFact("316", "work", "The API answers 422 to an invoice without lines", by=AGENT, seen="99"),
    DemoFact("312", "work", "900 invoices a month, 41,000 in all the years to come we can imagine", "volume"),
    # spring: a single file
    DemoFact(
        "309",
        "decisions",
        "PostgreSQL is gone since D#7: one file in WAL mode, opened by the tests as it is by the service, copied for a "
        "backup, and nobody on call for it; ask Nadia before anything but SQLite is proposed again",
        seen="40",
        evidence="D#7",
    ),
    DemoFact(
        "305", "work", "Una migración publicada no se edita nunca; se escribe otra", seen="66", tags="migraciones"
    ),
    DemoFact("301", "projects", "Every line of CHANGELOG.md is something a client notices", by=FILE, seen="64"),
    DemoFact("296", "personal", "Greta trabaja de martes a jueves", "greta", seen="100"),
    DemoFact(
        "292",
        "projects",
        "The tax office wants numbers without gaps: 2026/A/0001, 0002, 0003",
        seen="34",
        tags="numbers",
    ),
    DemoFact("288", "work", "Eight threads, two hundred numbers, no gap: tests/test_numbering.py", by=AGENT),
    DemoFact(
        "284", "preferences", "No le gustan los acrónimos en los nombres de archivo", confidence="medium", seen="80"
    ),
    DemoFact("280", "work", "PDFs are made with LaTeX", "latex", evidence="D#10"),
    DemoFact(
        "275", "general", "“Smith & Sons” breaks whatever has not escaped it; used as the test client", seen="140"
    ),
    DemoFact("272", "work", "Noor answers the studios; she writes better English than all of us", "noor", seen="61"),
    DemoFact("270", "work", "VAT is per thousand in code and per cent on paper", by=AGENT, seen="28", tags="vat money"),
    DemoFact(
        "266", "projects", "El CSV de tipos lo revisa Noor el primer día hábil de cada trimestre", seen="77", tags="iva"
    ),
    DemoFact(
        "262", "general", "Invoice 2026/A/0117 is the famous one with the extra cent", seen="125", tags="rounding"
    ),
    DemoFact("259", "work", "May move to Kubernetes next year", "kubernetes", by=AGENT, confidence="low"),
    DemoFact("252", "personal", "Nadia no responde mensajes después de las siete", seen="75"),
    DemoFact("249", "preferences", "Tables in Markdown rather than screenshots of spreadsheets", confidence="medium"),
    DemoFact("246", "work", "A PDF takes 0.18 s now, 2.3 s with LaTeX", by=AGENT),
    DemoFact("242", "projects", "Greta decide cómo se ve una factura; el resto opina", seen="52"),
    DemoFact("238", "work", "Rates are cached in Redis for an hour", "redis", by=AGENT, evidence="D#14"),
    DemoFact("233", "general", "The help mailbox changes hands every Monday", "mailbox", seen="90"),
    DemoFact(
        "229", "self_correction", "“Sin duda” no es una razón: citar el archivo o la decisión", by=HOOK, seen="35"
    ),
    # summer: the nine-minute deadline
    DemoFact("221", "projects", "docs/preguntas.md answers in the language of whoever asked", seen="62"),
    DemoFact("215", "work", "Idempotency keys are kept for a day", by=AGENT, seen="71", evidence="D#15"),
    DemoFact("210", "preferences", "Show the query before the ORM; there is no ORM", seen="58"),
    DemoFact("204", "personal", "Tomás está de vacaciones todo enero", "january", confidence="medium"),
    DemoFact(
        "199", "work", "Unos doscientos avisos (webhooks) al día", confidence="medium", seen="68", tags="webhooks"
    ),
    DemoFact(
        "196", "decisions", "No RabbitMQ, no Kafka: the queue is a table (D#16)", evidence="D#16", tags="webhooks"
    ),
    DemoFact("190", "work", "Un aviso se reintenta durante tres días; después avisa a una persona", seen="63"),
    DemoFact(
        "186", "work", "Studios may register two addresses for webhooks, not three", by=CLAUDE, confidence="medium"
    ),
    DemoFact("181", "general", "The coffee machine is on the second floor", "coffee"),
    DemoFact("175", "general", "A cache that must be up is not a cache (docs/incidents/redis.md)", by=FILE, seen="26"),
    DemoFact("169", "work", "La caché cabe en 4 KB: un diccionario con límite de mil", evidence="D#18", tags="cache"),
    DemoFact("163", "work", "We never store an API key, only its SHA-256", evidence="D#19", seen="45", tags="security"),
    DemoFact("157", "preferences", "Errors name the cause and the next step, in that order", seen="21"),
    DemoFact("152", "projects", "billing/money.py is billing/amounts.py now", by=AGENT, confidence="medium"),
    DemoFact("147", "personal", "El cumpleaños de Greta es en junio; tarta de limón", "cake", confidence="medium"),
    DemoFact("144", "decisions", "An issued invoice is corrected, never deleted (D#20)", evidence="D#20", seen="39"),
    DemoFact("140", "work", "Las rectificativas llevan su propia serie, la R", confidence="medium", seen="73"),
    DemoFact("136", "preferences", "Dislikes emoji in commit messages", by=CLAUDE, confidence="medium"),
    DemoFact(
        "133", "work", "Nine numbers were lost once: numbers are never taken in batches", evidence="D#9", tags="numbers"
    ),
    DemoFact(
        "129", "work", "VAT is rounded once, on the total of each rate", evidence="D#21", seen="31", tags="rounding vat"
    ),
    DemoFact(
        "126",
        "work",
        "Elías, the accountant, is here on Tuesdays and Thursdays",
        by=AGENT,
        confidence="medium",
        seen="82",
    ),
    DemoFact("124", "general", "The famous cent was found on a Thursday", by=AGENT, confidence="low"),
    # autumn: copies and chains
    DemoFact("117", "work", "billing/errors.py holds every refusal, with a code", by=CLAUDE, confidence="medium"),
    DemoFact("112", "projects", "The public documentation is generated from docs/", by=CLAUDE, confidence="low"),
    DemoFact("108", "work", "The server has 2 GB of memory and uses 140 MB of it", by=AGENT, confidence="medium"),
    DemoFact("103", "work", "La copia de cada hora se hace con VACUUM INTO", evidence="D#23", tags="copias"),
    DemoFact(
        "98", "work", "A copy that nobody opened is no copy: one is opened every Monday", seen="24", tags="copias"
    ),
    DemoFact("96", "preferences", "Rather a boring name than a clever one", by=HOOK, confidence="medium"),
    DemoFact("94", "projects", "Deploy on Fridays, after lunch", "fridays", by=AGENT, confidence="medium"),
    DemoFact("91", "work", "El servidor se reinicia los domingos a las cuatro", confidence="medium", tags="servidor"),
    DemoFact("89", "work", "The chain of digests starts at 2026/A/0001", evidence="D#24", tags="chain"),
    DemoFact("86", "work", "billing verify takes 0.3 s for the whole chain", by=AGENT, tags="chain"),
    DemoFact("84", "work", "Clients see amounts with a comma in Spanish and with a point in English", seen="60.5"),
    DemoFact("81", "work", "La gestoría de Elías quiere el trimestre en un CSV, antes del día diez", tags="gestoría"),
    DemoFact("79", "work", "The bucket for copies is in another city, and its key is with Nadia", tags="copias"),
    DemoFact("76", "work", "Noor and Greta share the on-call phone by weeks", confidence="medium"),
    DemoFact("73", "decisions", "Se despliega los martes y los jueves, antes de comer", evidence="D#25", tags="deploy"),
    DemoFact("70", "work", "Stand-up at a quarter past ten, so that Montevideo is awake", confidence="high"),
    DemoFact(
        "67", "general", "La línea del tranvía 4 tiene cobertura; desde ahí se vio la caída", by=AGENT, confidence="low"
    ),
    DemoFact("65", "preferences", "Wants diffs before explanations", seen="19"),
    DemoFact("60", "decisions", "Texts live in locale/, one key a sentence (D#26)", evidence="D#26"),
    DemoFact("57", "work", "Blåklint Form pays in crowns; everybody else in euros", tags="money"),
    DemoFact("55", "personal", "Noor is learning Spanish and likes to be corrected"),
    DemoFact(
        "51", "work", "A studio with ten years of invoices needs three hours at 60 a minute", by=AGENT, evidence="D#27"
    ),
    DemoFact("48", "work", "Tres Gatos factura a finales de mes, todo el mismo día", tags="estudios"),
    DemoFact("46", "self_correction", "Never run migrations against the copy of Monday", by=HOOK),
    DemoFact("44", "work", "The laptop in the cupboard is the spare server", confidence="low"),
    DemoFact("42", "projects", "The next version is 1.0; it waits for reminders and for the importer", "next"),
    DemoFact("38", "preferences", "Nadia prefiere ver el plan antes que el código"),
    DemoFact(
        "37", "general", "Oficina do Sal answers mails in Portuguese, and it is fine", by=CLAUDE, confidence="medium"
    ),
    DemoFact("34", "decisions", "PDF/A-3 with the XML inside: one file for people and machines", evidence="D#28"),
    DemoFact("32", "work", "El validador de PDF/A tarda más que hacer el PDF", by=AGENT, confidence="medium"),
    DemoFact("27", "work", "The retro is on the last Thursday of the month", seen="10"),
    DemoFact("25", "general", "Nobody has ever used the fax number on the old letterhead", "fax"),
    DemoFact("23", "work", "Reminders: one, on the third day, kind", "reminders", tags="recordatorios"),
    DemoFact("19", "work", "The team is five people since Elías joined for two days a week", by=CLAUDE),
    DemoFact("17", "personal", "Elías collects misprinted stamps", by=CLAUDE, confidence="medium"),
    DemoFact("13", "projects", "Quedan dos textos sin traducir en locale/en.toml", "untranslated", by=AGENT),
    DemoFact("11", "preferences", "Ask before touching migrations/", by=HOOK),
    # notes imported by a script
    DemoFact(
        "9.9",
        "work",
        "Invoices are due after thirty days unless agreed otherwise",
        "due",
        by=NOTES,
        confidence="medium",
    ),
    DemoFact("9.9", "work", "La oficina está en la calle del Mar, tercer piso", by=NOTES, confidence="medium"),
    DemoFact("9.9", "work", "The database password is on the yellow note", "yellow", by=NOTES, confidence="low"),
    DemoFact(
        "9.9", "general", "Comprar bombillas E14 para la farola de la entrada", "bulbs", by=NOTES, confidence="low"
    ),
    DemoFact("9.9", "work", "All invoices are sent by fax on Fridays", "faxes", by=NOTES, confidence="medium"),
    DemoFact("9.9", "projects", "The billing system is written in FoxPro", "foxpro", by=NOTES, confidence="medium"),
    DemoFact("9.9", "preferences", "Likes Comic Sans for headings", by=NOTES, confidence="low"),
    DemoFact("9.9", "work", "VAT in Spain is 18 %", "vat18", by=NOTES, confidence="medium", tags="iva"),
    DemoFact("9.9", "personal", "Call the dentist before the 14th", by=NOTES, confidence="low"),
    DemoFact("9.9", "general", "Regar el ficus los miércoles", by=NOTES, confidence="low"),
    DemoFact("9.9", "work", "Los clientes nuevos reciben una visita en persona", by=NOTES, confidence="low"),
    DemoFact(
        "9.9", "projects", "Backups go to the tape drive under the stairs", by=NOTES, confidence="medium", tags="copias"
    ),
    DemoFact("9.9", "general", "The printer only works if you believe in it", by=NOTES, confidence="low"),
    DemoFact(
        "9.9",
        "work",
        "Elías wants the quarter before the tenth, every quarter",
        "quarter",
        by=NOTES,
        confidence="medium",
    ),
    # since Monday
    DemoFact("+.05", "work", "Sprint goal: a studio imports its clients and its past alone", "goal", tags="sprint"),
    DemoFact("+.1", "projects", "The importer checks every row before it keeps the first", by=AGENT, evidence="D#34"),
    DemoFact("+.22", "work", "The cache is in Redis again", "again", by=CLAUDE, confidence="medium", evidence="D#31"),
    DemoFact("+.28", "preferences", "Nadia wants agents to ask before they supersede a decision", by=HOOK),
    DemoFact("+.45", "general", "Estudio Faro brings cake on Thursday: sin cacahuetes", tags="comida"),
    DemoFact("1.08", "work", "Spanish spreadsheets separate columns with semicolons", by=CLAUDE, tags="csv importar"),
    DemoFact("1", "work", "Cuarto Menguante importó 312 clientes a la primera", tags="importar"),
    DemoFact(".13", "work", "No se envían recordatorios en domingo", tags="recordatorios"),
    DemoFact(".02", "projects", "Demo for the studios on Thursday at eleven", by=AGENT, confidence="medium"),
)

CHANGES = (
    DemoChange("308", "correct", "postgres", "The database is one file beside the service, billing.db", "file"),
    DemoChange("271", "forget", "standup9"),
    DemoChange("254", "correct", "rounding1", "Rounds half to even, line by line", "rounding2"),
    DemoChange("239", "correct", "latex", "PDFs are rendered from HTML", "html"),
    DemoChange("216", "correct", "volume", "1,400 invoices a month, and still 0.2 ms to read one", "volume2"),
    DemoChange("173", "correct", "team3", "Team of four: Nadia, Tomás, Greta and Noor", "team4"),
    DemoChange("168", "correct", "redis", "Rates are kept in memory, a thousand at most", "memory"),
    DemoChange("150", "forget", "coffee"),
    DemoChange("127", "forget", "rounding2"),
    DemoChange("93", "confirm", "file html"),
    DemoChange("72", "correct", "fridays", "Deploy on Tuesdays and Thursdays, before lunch", "tuesdays", by=AGENT),
    DemoChange("61.5", "confirm", "team4"),
    DemoChange("24", "forget", "fax"),
    DemoChange("8.8", "correct", "vat18", "VAT in Spain is 21 %, 210 in data/vat.csv", "vat21"),
    DemoChange("8.7", "confirm", "quarter"),
    DemoChange("+.08", "forget", "yellow"),
    DemoChange("+.15", "correct", "next", "The next version is 1.0; it waits only for the importer", "next2"),
    DemoChange("+.24", "correct", "memory", "Rates are cached in Redis for ten minutes", "redis2", by=CLAUDE),
    DemoChange("+.5", "confirm", "reminders goal"),
    DemoChange(
        "1.04", "correct", "untranslated", "Los dos idiomas tienen las mismas claves; lo comprueba una prueba", "same"
    ),
    DemoChange("1.01", "forget", "bulbs"),
    DemoChange(".1", "confirm", "noor"),
)
