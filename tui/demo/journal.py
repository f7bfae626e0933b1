"""The rest of the demo's year: iterations, events, tasks, checkpoints, links between commits and decisions."""

from tui.demo.records import Automatic, DemoCheckpoint, DemoEvent, DemoIteration, DemoLink, DemoTask

CLAUDE = "mcp:claude-code"

ITERATIONS = (
    DemoIteration(
        "356.5", "spike", "una factura, de principio a fin", "318", phases="sketch build", artifacts="README.md"
    ),
    DemoIteration("314", "feature", "keep invoices in one file", "286", phases="architecture build test"),
    DemoIteration(
        "282", "feature", "print invoices", "235", phases="build test", artifacts="billing/pdf.py", by="agent"
    ),
    DemoIteration("232", "fix", "make it faster, with Redis", "175", abandoned=True, phases="build", by="agent"),
    DemoIteration("171.5", "feature", "claves y rectificativas", "138", phases="architecture build test"),
    DemoIteration("135", "fix", "the cent of 2026/A/0117", "120", phases="spike build test", artifacts="tests/cases"),
    DemoIteration("107", "audit", "copias que se abren", "80", phases="build test", artifacts="billing/backup.py"),
    DemoIteration("62.5", "feature", "two languages, one page", "31", phases="architecture build", by="agent"),
    DemoIteration("26", "spike", "a phone app for reminders", "18", abandoned=True),
    DemoIteration("+.03", "feature", "importar clientes y su pasado"),
)

EVENTS = (
    DemoEvent("318.5", "phase_completed", "sketch", {"invoices": 1, "by_hand": True}),
    DemoEvent("313.2", "measured", "architecture", {"one_file_s": 0.6, "server_s": 9.8, "rows": 41000}),
    DemoEvent("309.5", "gate_passed", "architecture", {"gates": ["one file", "tests green"], "decision": "D#7"}),
    DemoEvent("287.2", "gate_passed", "test", {"threads": 8, "numbers": 200, "gaps": 0}),
    DemoEvent("262.2", "gate_failed", "test", {"invoice": "2026/A/0117", "off_by_cents": 1}),
    DemoEvent("236.2", "phase_completed", "build", {"pdf_s": 0.18, "before_s": 2.3}),
    DemoEvent("224", "deployed", "operations", {"version": "0.4.0", "took_s": 41}),
    DemoEvent("176.2", "incident", "operations", {"what": "Redis unavailable", "minutes": 9, "lost": 0}, by="hook"),
    DemoEvent("169.2", "gate_passed", "build", {"services": 1, "decision": "D#18"}),
    DemoEvent("151.2", "renamed", "build", {"from": "billing/money.py", "to": "billing/amounts.py"}, by="file"),
    DemoEvent("133", "incident", "operations", {"what": "nine numbers skipped", "decision": "D#9"}, by="hook"),
    DemoEvent("122.2", "gate_passed", "test", {"rounding_cases": 16, "off_by_cents": 0}),
    DemoEvent("97.2", "gate_passed", "test", {"copia": "abierta", "MB": 41}),
    DemoEvent("82.2", "phase_completed", "build", {"chain": "whole", "invoices": 9214}),
    DemoEvent("75.5", "deployed", "operations", {"version": "0.9.0", "día": "viernes", "arrepentidos": 3}),
    DemoEvent("67.5", "deployed", "operations", {"version": "0.9.1", "día": "martes"}),
    DemoEvent("40.2", "gate_passed", "test", {"limit": 60}),
    DemoEvent("29.2", "gate_failed", "print", {"validator": "PDF/A-3", "why": "a quote in an attribute"}),
    DemoEvent("28.5", "gate_passed", "print", {"validator": "PDF/A-3"}),
    DemoEvent("18.5", "iteration_abandoned", "spike", {"why": "nobody wanted another app"}),
    DemoEvent("9.8", "imported", "memory", {"facts": 14, "from": "old office notes"}, by="import:notes"),
    DemoEvent("+.26", "agent_changed_decisions", "memory", {"superseded": ["D#18"], "forgotten": ["D#23"]}, by=CLAUDE),
    DemoEvent("+.42", "gate_passed", "import", {"rows": 3, "bad": 1, "kept": 0}),
    DemoEvent("1.03", "deployed", "operations", {"version": "0.12.0", "studio": "Cuarto Menguante"}),
    DemoEvent(".05", "phase_completed", "build", {"importer": "done", "falta": "la documentación"}, by=CLAUDE),
)

TASKS = (
    DemoTask("30", "Cerrar 0.11 con los textos en los dos idiomas", "28", "20"),
    DemoTask("21", "Write the letter for reminders", "19", "15"),
    DemoTask("15", "Open the copy of Monday on another laptop", "14", "13"),
    DemoTask("12", "Revisar los hechos importados de las notas viejas"),
    DemoTask("11", "Tell the studios about the limit of 60 a minute", "10"),
    DemoTask("9.5", "Importer for clients", "+.11", "1.06", by="agent"),
    DemoTask("8.9", "Importer for old invoices, in a series of their own", "1.05"),
    DemoTask("+.06", "Ask Elías for a year of somebody's invoices", "+.2", "+.5"),
    DemoTask("+.07", "Preparar la demo del jueves", ".08"),
    DemoTask("+.29", "Look at what the agent decided on its own"),
)

CHECKPOINTS = (
    DemoCheckpoint("311", "antes de cambiar de base"),
    DemoCheckpoint("227", "0.4.0"),
    DemoCheckpoint("152.5", "before refactor"),
    DemoCheckpoint("76", "0.9.0"),
    DemoCheckpoint("31.5", "dos idiomas, terminado"),
    DemoCheckpoint("10.1", "before the old notes"),
    DemoCheckpoint("+0", "Monday, before the sprint"),
    DemoCheckpoint(".11", "end of the day", by="agent"),
)

# retention deletes five-minute checkpoints after a day and half-hour ones after a week
AUTOMATIC = (
    Automatic("20.2", level="archival"),
    Automatic("12.2", level="archival"),
    Automatic("8.2", level="archival"),
    Automatic("+.19", level="meso"),
    Automatic("+.24", tokens=148_000, session="faster-import", by="hook"),
    Automatic("+.3", session="faster-import", by="hook"),
    Automatic("+.52", level="archival"),
    Automatic("1.02", level="archival"),
    Automatic(".12", level="meso"),
    Automatic(".068", tokens=143_500, session="importer", by="hook"),
    Automatic(".063", level="micro"),
    Automatic(".052", tokens=171_200, session="importer", by="hook"),
    Automatic(".048", level="micro"),
)

# Links that no commit message states, written in a few batches: each makes the timeline read git first, which takes 0.1
# s. The last batch before Monday is after that day's commits, so that their links are not among the changes since. A
# commit is named by the start of its subject.
LINKS = (
    DemoLink("308.2", "docs: el despliegue es ahora copiar", 7, "relates", by="agent"),
    DemoLink("308.2", "docs: el despliegue es ahora copiar", 2, "reverts"),
    DemoLink("168.5", "Merge branch 'pdf'", 10),
    DemoLink("168.5", "Redis went away", 14, "relates"),
    DemoLink("168.5", "cache: in memory", 14, "reverts"),
    DemoLink("80.5", "test: la rectificativa", 20, by=CLAUDE),
    DemoLink("80.5", "fix(backup)", 23, by="agent"),
    DemoLink("80.5", "cli: billing verify", 24),
    DemoLink("8.5", "test: the sixty-first", 27, by=CLAUDE),
    DemoLink("8.5", "fix(pdf)", 28, "relates"),
    DemoLink("+.24", "cache: Redis again", 18, "reverts", by=CLAUDE),
    DemoLink("+.5", "test: un CSV", 34),
)
