"""Pairs of facts as people and agents write them, in Spanish and English, with what a person says of each.

`same`: one of the two is enough. `contradicts`: both cannot hold. `apart`: both may stand. Written before the rules;
HELD was not looked at while they were made.
"""

DEVELOPED = (
    # the same in other words of the same letters
    ("Deploys on Fridays", "Deploys on Friday.", "same"),
    ("The team prefers small commits", "The team prefers small commit", "same"),
    ("Usa tabs para indentar Go", "usa tabs para indentar go", "same"),
    ("Prefers direct answers, no hedging", "Prefers direct answers with no hedging", "same"),
    ("Los tests corren en paralelo", "Los tests corren siempre en paralelo", "same"),
    ("The staging database is reset every night", "The staging database is reset each night", "same"),
    ("Alérgico al maní", "Es alérgico al maní", "same"),
    ("Billing API keys rotate in March", "Billing API keys are rotated in March", "same"),
    # a no on one side
    ("Deploys on Fridays", "Never deploys on Fridays", "contradicts"),
    ("Se despliega los viernes", "No se despliega los viernes", "contradicts"),
    ("The API uses GraphQL", "The API no longer uses GraphQL", "contradicts"),
    ("Usa Jenkins", "Ya no usa Jenkins", "contradicts"),
    ("Drinks coffee", "Doesn't drink coffee", "contradicts"),
    ("Toma café", "Nunca toma café", "contradicts"),
    ("Reviews need two approvals", "Reviews don't need two approvals", "contradicts"),
    ("Trabaja los sábados", "Jamás trabaja los sábados", "contradicts"),
    ("Likes long meetings", "Avoids long meetings", "contradicts"),
    # numbers, days, versions
    ("Team of 5", "Team of 6", "contradicts"),
    ("Somos cinco en el equipo", "Somos 6 en el equipo", "contradicts"),
    ("The timeout is 30 seconds", "The timeout is 45 seconds", "contradicts"),
    ("Deploys on Fridays", "Deploys on Mondays", "contradicts"),
    ("La retro es el martes", "La retro es el jueves", "contradicts"),
    ("Runs on Python 3.11", "Runs on Python 3.12", "contradicts"),
    ("The release is in March", "The release is in April", "contradicts"),
    ("El límite es de 100 pedidos por minuto", "El límite es de 250 pedidos por minuto", "contradicts"),
    # opposites
    ("Prefers a light theme", "Prefers a dark theme", "contradicts"),
    ("Le gusta el mate", "Odia el mate", "contradicts"),
    ("Indent with tabs", "Indent with spaces", "contradicts"),
    ("Feature flags are enabled in production", "Feature flags are disabled in production", "contradicts"),
    ("El repositorio es público", "El repositorio es privado", "contradicts"),
    ("Force pushes are allowed", "Force pushes are forbidden", "contradicts"),
    # another value of one name
    ("primary LLM: Kimi K2.5", "primary LLM: Qwen 2.5", "contradicts"),
    ("The database is SQLite", "The database is PostgreSQL", "contradicts"),
    ("Vive en Rosario", "Vive en Córdoba", "contradicts"),
    ("El servidor de staging se llama Tirana", "El servidor de staging se llama Lima", "contradicts"),
    # neither: both may stand
    ("Ana likes tea", "Eva likes tea", "apart"),
    ("Uses SQLite for storage", "Uses Redis for caching", "apart"),
    ("The API is slow", "The API is documented", "apart"),
    ("Deploys on Fridays", "Reviews on Mondays", "apart"),
    ("No usa Docker", "No usa Kubernetes", "apart"),
    ("Prefers short answers", "Prefers short meetings", "apart"),
    ("Python 3.11 in the backend", "Node 20 in the frontend", "apart"),
    ("Team of 5", "The team meets at 5", "apart"),
    ("Never deploys on Fridays", "Never works on Sundays", "apart"),
    ("El equipo usa Linear para los tickets", "El equipo usa Figma para los diseños", "apart"),
)
HELD = (
    ("Backups run at night", "Backups run at night.", "same"),
    ("Writes commit messages in English", "Writes all commit messages in English", "same"),
    ("Prefiere reuniones cortas", "Prefiere las reuniones cortas", "same"),
    ("Staging runs on a single server", "Staging runs in a single server", "same"),
    ("Works with Docker", "Does not work with Docker", "contradicts"),
    ("La app funciona sin conexión", "La app no funciona sin conexión", "contradicts"),
    ("Uses Redis for sessions", "Stopped using Redis for sessions", "contradicts"),
    ("Come carne", "No come carne", "contradicts"),
    ("The free plan allows 3 projects", "The free plan allows 10 projects", "contradicts"),
    ("El sprint dura dos semanas", "El sprint dura tres semanas", "contradicts"),
    ("The stand-up is at 9:30", "The stand-up is at 10:00", "contradicts"),
    ("Las entregas son los lunes", "Las entregas son los miércoles", "contradicts"),
    ("Comments are required on pull requests", "Comments are optional on pull requests", "contradicts"),
    ("El daily es por la mañana", "El daily es por la tarde", "contradicts"),
    ("editor: Neovim", "editor: VS Code", "contradicts"),
    ("Our CI is Jenkins", "Our CI is GitHub", "contradicts"),
    ("Works at Acme", "Works at Globex", "contradicts"),
    ("Le gusta Rust", "Le gusta Python", "apart"),
    ("Marta leads design", "Pablo leads design", "apart"),
    ("The backend has 400 tests", "The frontend has 120 tests", "apart"),
    ("No quiere notificaciones los domingos", "No quiere reuniones los viernes", "apart"),
    ("Sends invoices in March", "Pays taxes in April", "apart"),
    ("The cache is fast", "The cache is small", "apart"),
    ("Usa Postgres en producción", "Usa SQLite en los tests", "apart"),
)
# said in other words altogether: only a model sees that these are one
BY_MEANING = (
    ("Prefers concise answers", "Likes replies that are brief and get straight to the point", "same"),
    ("Mi hija es alérgica al maní", "La nena no puede comer cacahuetes porque le dan alergia", "same"),
    ("We deploy on Thursdays", "Releases go out on Thursday", "same"),
    ("Vive en Rosario con dos gatos", "He and his two cats live in Rosario", "same"),
    ("The billing service keeps its data in Postgres", "Billing stores everything in a Postgres database", "same"),
    ("We deploy on Thursdays", "Releases go out on Friday", "contradicts"),
    ("The office is in Rosario", "His dog is called Fito", "apart"),
    ("Reviews need two approvals", "The stand-up is at half past nine", "apart"),
)
